/**
 * Measures the milliseconds from the request of a new text of 4,000 characters to the first byte of
 * its mp3, in the service's own pipeline with the real tools. Alternates with new texts of only one
 * such sentence, and compares. With ENGINE_G1=sherpa:FOLDER the first voice of that model is
 * measured instead.
 */
import { ffmpegEncoder } from "../../src/audio/formats/ffmpeg-encoder.ts";
import { createMemoryCache } from "../../src/audio/pipeline/memory-cache.ts";
import { createPipeline } from "../../src/audio/pipeline/pipeline.ts";
import { openFilesystemAudioStore } from "../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { composeModels } from "../../src/bootstrap/speech/models.ts";
import { localEngines } from "../../src/engines/local/engine.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { openSubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { renditionOf } from "../../test/audio/pipeline/renditions.ts";
import { milliseconds, sideBySide } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const toolVoices = ["espeak:gmw/en-US+f3", "flite:slt"];
const characters = 4000;

let texts = 0;
const newSentence = (): string => `Sentence number ${String(++texts).padStart(4, "0")} begins another text.`;
const rest = " The quick brown fox jumps over the lazy dog, and goes home to its children.".repeat(60);

await inTemporaryFolder(async (folder) => {
  const host = await openSubprocessHost();
  const models = await composeModels(readSettings(process.env), host, console);
  const engines = await localEngines({ host, models: models.tools });
  const [model] = models.voices;
  const pipeline = createPipeline({
    engines: ({ engine }) => engines.find(({ code }) => code === engine),
    encoder: ffmpegEncoder(host),
    store: await openFilesystemAudioStore({ path: folder }),
    cache: createMemoryCache(),
  });
  const untilFirstByte = (voice: string, text: string): Promise<number> =>
    milliseconds(async () => {
      const listener = new AbortController();
      const { audio } = await pipeline.stream([renditionOf(text, { voice })], listener.signal);
      for await (const _ of audio) break;
      listener.abort(new Error("The first byte was received."));
    });
  /**
   * An aborted text ends the process of its model: it is loaded again before the next measurement.
   */
  const load = async (voice: string): Promise<void> => {
    const { audio } = await pipeline.stream(
      [renditionOf(newSentence(), { voice })],
      new AbortController().signal,
    );
    for await (const _ of audio);
  };
  const measure = async (voice: string, text: string): Promise<number> => {
    if (model) await load(voice);
    return untilFirstByte(voice, text);
  };
  for (const voice of model ? [model.voiceName] : toolVoices) {
    await sideBySide({
      name: `first byte of ${characters} characters, beside their first sentence, ${voice}`,
      unit: "ms",
      aim: { atMost: model ? 1.2 : 1.5 },
      rounds: model ? 8 : 40,
      warmUps: model ? 1 : 5,
      ours: () => measure(voice, (newSentence() + rest).slice(0, characters)),
      bare: () => measure(voice, newSentence()),
    });
  }
  await pipeline.drain(10_000);
  await host.close();
});
