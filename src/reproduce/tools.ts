import { espeakUnknownSize, wavHeader } from "../domain/synthesis/wav-header.ts";
import type { LocalTool } from "../engines/local/local-tool.ts";
import { pico } from "../engines/local/pico.ts";
import type { InstalledVoice } from "../engines/natural-voices/natural-voices.ts";
import { digestOfFiles, voicePackages } from "../engines/natural-voices/packages.ts";
import { openPicoEngine, sampleRate as picoRate, picoText } from "../subprocess/host/models/pico/engine.ts";
import type { PicoOrder, PicoStart } from "../subprocess/pico.ts";
import type { SubprocessHost } from "../subprocess/subprocess-host.ts";

/** Reads a file of a voice or a runtime, by its name in the page's list. */
export type ReadFile = (name: string) => Promise<Uint8Array<ArrayBuffer>>;

type SpeakByModel = SubprocessHost["speakByModel"];

/** The tool of the voice, which speaks in this page. @throws if it does not run in pages */
export const toolFor = async (voice: string, readFile: ReadFile): Promise<LocalTool> => {
  const installed = installedVoice(voice);
  const tool = installed && openTool(installed, readFile);
  if (!tool) throw new Error(`The voice ${voice} does not run in this page.`);
  return tool;
};

const openTool = (voice: InstalledVoice, readFile: ReadFile): LocalTool | undefined => {
  const installed = new Map([[voice.voiceName, voice]]);
  const hostOf = (speakByModel: SpeakByModel) => ({ speakByModel }) as SubprocessHost;
  if (voice.package.name === "pico") return pico(hostOf(speakPico(readFile)), installed);
  return undefined;
};

/** As the service has it if its files are the published ones, which `readFile` checks. */
const installedVoice = (voiceName: string): InstalledVoice | undefined => {
  const [prefix = "", name = ""] = voiceName.split(":");
  const found = voicePackages.find((one) => one.name === prefix);
  const needed = found?.voices[name];
  if (!found || !needed) return undefined;
  return { voiceName, package: found, folder: prefix, digest: digestOfFiles(found.files, needed) };
};

/** What the speaker process does with an order. */
const speakPico = (readFile: ReadFile): SpeakByModel =>
  async function* ({ model, order }) {
    const { voice, ...given } = order as PicoOrder;
    const files = (model.start as PicoStart).voices[voice];
    if (!files) throw new Error("There is no such voice.");
    const engine = await openPicoEngine({
      textAnalysis: await readFile(files.textAnalysis),
      signal: await readFile(files.signal),
      wasmBinary: await readFile("svoxpico.wasm"),
    });
    const { knobs, text } = picoText(given);
    yield wavHeader(picoRate, espeakUnknownSize);
    for (const { samples } of engine.speak(knobs + text)) if (samples.length > 0) yield samples;
  };
