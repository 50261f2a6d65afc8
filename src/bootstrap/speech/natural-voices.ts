import { catalog } from "../../../projections/catalog.ts";
import type { Check } from "../../application/health/health.ts";
import { catalogStream } from "../../domain/catalog/catalog.ts";
import { installCommand } from "../../domain/catalog/natural-voices.ts";
import type { Engine } from "../../engines/engine.ts";
import { hibari } from "../../engines/local/hibari.ts";
import { kokoro } from "../../engines/local/kokoro.ts";
import { createModelStates } from "../../engines/local/model-states.ts";
import { pico } from "../../engines/local/pico.ts";
import type { NaturalVoices } from "../../engines/natural-voices/natural-voices.ts";
import type { SubprocessHost } from "../../subprocess/subprocess-host.ts";
import type { Core, Runtime } from "../core.ts";

/** The tools of the natural voices that are installed. Chosen voices are loaded now. */
export const composeNaturalVoices = (
  { settings, log }: Runtime,
  { runner }: Core,
  { installed, unusable }: NaturalVoices,
  host: SubprocessHost,
) => {
  const states = createModelStates({ warn: (message) => log.warn(message) });
  const { idleMs } = settings.models.limits;
  const neural = hibari({ host, installed, states, idleMs });
  const slow = kokoro({ host, installed, states, idleMs });
  const view = runner.lastKnownView(catalog);
  const chosen = (): readonly string[] => view.get(catalogStream)?.chosen?.voices ?? [];
  for (const voiceName of chosen()) {
    const [prefix, voice = ""] = voiceName.split(":");
    if (neural && prefix === neural.prefix && neural.has(voice)) void neural.keepLoaded(voice);
  }
  return {
    tools: [neural, slow, pico({ host, installed, states })].filter((tool) => tool !== undefined),
    /** Reports the chosen voices that this instance cannot speak: their fallbacks speak. */
    checkWith: (findEngine: (code: "g1") => Engine | undefined): Check => ({
      name: "voices",
      critical: false,
      probe: async () => {
        const isHere = (voiceName: string): boolean =>
          (findEngine("g1")?.version(voiceName) ?? "none") !== "none";
        const missing = chosen().filter((one) => !isHere(one));
        const files = unusable.map((one) => `; ${one.package}/${one.message}`).join("");
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
