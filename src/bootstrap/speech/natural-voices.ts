import { catalog } from "../../../projections/catalog.ts";
import type { Check } from "../../application/health/health.ts";
import { catalogStream } from "../../domain/catalog/catalog.ts";
import type { Engine } from "../../engines/engine.ts";
import type { NaturalVoices } from "../../engines/natural-voices/natural-voices.ts";
import type { Core, Runtime } from "../core.ts";

/** What makes voices better that are not installed here. */
export const installHint = "install natural voices: scripts/natural-voices";

/** Reports the chosen voices that this instance cannot speak: their fallbacks speak. */
export const naturalVoicesCheck = (
  { runner }: Core,
  { unusable }: NaturalVoices,
  findEngine: (code: "g1") => Engine | undefined,
): Check => {
  const view = runner.lastKnownView(catalog);
  const isHere = (voiceName: string): boolean => (findEngine("g1")?.version(voiceName) ?? "none") !== "none";
  return {
    name: "voices",
    critical: false,
    probe: async () => {
      const missing = (view.get(catalogStream)?.chosen?.voices ?? []).filter((one) => !isHere(one));
      if (missing.length === 0) return;
      const files = unusable.map((one) => `; ${one.package}/${one.message}`).join("");
      throw new Error(`${missing.join(", ")}: not installed here${files}; ${installHint}`);
    },
  };
};

/** An installation that is older than natural voices keeps its voices until an operator chooses. */
export const reportVoiceChoice = ({ settings, log }: Runtime, { runner }: Core): void => {
  const { chosen } = runner.view(catalog).get(catalogStream) ?? {};
  if (chosen || settings.naturalVoices.choice === "classic") return;
  log.info("The classic voices speak, as before. `voxledger voices use natural` chooses natural ones.");
};
