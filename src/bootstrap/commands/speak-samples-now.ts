import type { SpeakSamplesNow } from "../../cli/commands/voices.ts";
import { BadSetting, type Settings } from "../../settings/read-settings.ts";
import { noTelemetry } from "../../telemetry/telemetry.ts";
import { composeCore, type Runtime } from "../core.ts";
import { createLogger } from "../observability.ts";
import { createShutdownDeadline } from "../shutdown.ts";
import { composeAudio, openSpeechTools } from "../speech/audio.ts";
import { composeGallery, composeSpeakSamples } from "../speech/gallery.ts";
import { composeCatalogs } from "../speech/synthesis.ts";
import { alone } from "../workers/shared.ts";

/** Speaks the samples with this process's own engines. A service may have the same stores open. */
export const composeSpeakSamplesNow =
  (readSettings: () => Settings): SpeakSamplesNow =>
  async () => {
    const settings = readSettings();
    if (!settings.hasVoiceGallery)
      throw new BadSetting("VOICE_GALLERY: it is off, so that no samples are needed");
    await using resources = new AsyncDisposableStack();
    const log = createLogger("silent");
    const core = await composeCore(settings, log);
    resources.defer(core.close);
    const runtime: Runtime = {
      ...{ settings, log, resources, clock: core.clock },
      telemetry: noTelemetry,
      ...openSpeechTools(settings, core.scheduler, { log, resources }),
      shared: alone,
      shutdownTimeLeft: createShutdownDeadline(settings.drainSeconds * 1_000),
      onError: () => {},
    };
    const namingKey = await core.namingKey();
    const audio = await composeAudio(runtime, core, namingKey);
    const gallery = composeGallery(runtime, core, audio, composeCatalogs(runtime, core, audio), namingKey);
    return await composeSpeakSamples(runtime, core, audio, gallery)(new AbortController().signal);
  };
