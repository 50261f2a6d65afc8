import { catalog } from "../../../projections/catalog.ts";
import type { Check } from "../../application/health/health.ts";
import { repeat } from "../../async/repeat.ts";
import { backgroundTime } from "../../async/time.ts";
import { catalogStream } from "../../domain/catalog/catalog.ts";
import { installCommand } from "../../domain/catalog/natural-voices.ts";
import { type Engine, noVersion } from "../../engines/engine.ts";
import { hibari } from "../../engines/local/hibari.ts";
import { kokoro } from "../../engines/local/kokoro.ts";
import { createModelStates } from "../../engines/local/model-states.ts";
import { pico } from "../../engines/local/pico.ts";
import type { SubprocessHost } from "../../subprocess/subprocess-host.ts";
import type { Core, Runtime } from "../core.ts";

/** A voice that is installed after the start is found within this time. */
const refreshMs = 10_000;

/**
 * Composes the tools of the natural voices. Chosen voices are loaded as soon as they are installed.
 */
export const composeNaturalVoices = (
  { settings, log, resources, onError }: Runtime,
  { runner, naturalVoices: natural }: Core,
  host: SubprocessHost,
) => {
  const { installed } = natural;
  const states = createModelStates({ warn: (message, end) => log.warn(end, message) });
  const { idleMs } = settings.models.limits;
  const neural = hibari({ host, installed, states, idleMs });
  const slow = kokoro({ host, installed, states, idleMs });
  const view = runner.lastKnownView(catalog);
  const chosen = (): readonly string[] => view.get(catalogStream)?.chosen?.voices ?? [];
  /**
   * Loads the voices one after another. If all were loaded at once on a busy machine, none would be
   * ready in time.
   */
  const load = async (voiceNames: readonly string[]): Promise<void> => {
    for (const voiceName of voiceNames) {
      const [prefix, voice = ""] = voiceName.split(":");
      if (prefix === neural.prefix && neural.has(voice)) await neural.keepLoaded(voice);
    }
  };
  const missing = (): readonly string[] => chosen().filter((one) => !installed.has(one));
  const refresh = async (): Promise<number> => {
    const voices = await natural.refresh();
    if (voices.length > 0) log.info({ voices }, "natural voices were installed");
    void load(voices.filter((one) => chosen().includes(one)));
    return refreshMs;
  };
  void load(chosen());
  if (missing().length > 0)
    log.warn(
      `${missing().join(", ")}: not installed here, so their fallbacks speak. ${installCommand(missing())} installs natural voices, also while the service runs.`,
    );
  const fail = (error: unknown): void => onError("natural voices cannot be looked for", error);
  const timing = { firstMs: refreshMs, retryMs: refreshMs, time: backgroundTime };
  resources.defer(repeat({ task: refresh, ...timing, onError: fail }));
  return {
    tools: [neural, slow, pico({ installed, states })],
    /** Reports the chosen voices that this instance cannot speak: their fallbacks speak. */
    checkWith: (findEngine: (code: "g1") => Engine | undefined): Check => ({
      name: "voices",
      critical: false,
      probe: async () => {
        const isHere = (voiceName: string): boolean =>
          (findEngine("g1")?.version(voiceName) ?? noVersion) !== noVersion;
        const missing = chosen().filter((one) => !isHere(one));
        const files = natural.unusable.map((one) => `; ${one.package}/${one.message}`).join("");
        const hint = `install natural voices: ${installCommand(missing)}`;
        const absent = `${missing.join(", ")}: not installed here${files}; ${hint}`;
        const problems = [...(missing.length > 0 ? [absent] : []), ...states.failures()];
        if (problems.length > 0) throw new Error(problems.join("; "));
      },
    }),
  };
};

/** An installation that is older than natural voices keeps its voices until an operator chooses. */
export const reportVoiceChoice = ({ settings, log }: Runtime, { runner }: Core): void => {
  const { chosen } = runner.view(catalog).get(catalogStream) ?? {};
  if (chosen || settings.naturalVoices.choice === "classic") return;
  log.info("The classic voices speak, as before. `voxledger voices use natural` chooses natural ones.");
};
