import { espeakUnknownSize, wavHeader } from "../domain/synthesis/wav-header.ts";
import { hibari } from "../engines/local/hibari.ts";
import type { LocalTool } from "../engines/local/local-tool.ts";
import { pico } from "../engines/local/pico.ts";
import type { SpeechHost } from "../engines/local/speak.ts";
import type { InstalledVoice } from "../engines/natural-voices/natural-voices.ts";
import { digestOfFiles, voicePackages } from "../engines/natural-voices/packages.ts";
import { loadEnglish } from "../natural/english/load.ts";
import { openHibari } from "../natural/hibari/model.ts";
import { createHibariVoice, type HibariVoice } from "../natural/hibari/voice.ts";
import { sampleRate } from "../natural/hibari/waveform.ts";
import { openOnnxSession } from "../natural/onnx/session.ts";
import type { VoiceEvent } from "../natural/speak-sentences.ts";
import type { HibariRequest, HibariStart } from "../subprocess/hibari.ts";
import {
  openPicoEngine,
  sampleRate as picoRate,
  picoText,
  speakInParts,
} from "../subprocess/host/models/pico/engine.ts";
import type { ModelJob } from "../subprocess/jobs.ts";
import type { PicoRequest, PicoStart } from "../subprocess/pico.ts";
import type { JobReport } from "../subprocess/protocol.ts";
import { speakInProcess } from "../subprocess/speech/speak-in-process.ts";

/** Reads a file of a voice or a runtime, by its name in the page's list. */
export type ReadFile = (name: string) => Promise<Uint8Array<ArrayBuffer>>;

/** A tool, and the host that runs its jobs. */
export interface PageTool extends SpeechHost {
  readonly tool: LocalTool;
}

type SpeakByModel = (job: ModelJob, onEnd: (report: JobReport) => void) => AsyncIterable<Buffer>;

/**
 * The tool of the voice, which speaks in this page.
 * @throws if it does not run in pages
 */
export const toolFor = async (voice: string, readFile: ReadFile): Promise<PageTool> => {
  const installed = installedVoice(voice);
  const tool = installed && openTool(installed, readFile);
  if (!tool) throw new Error(`The voice ${voice} does not run in this page.`);
  return tool;
};

const openTool = (voice: InstalledVoice, readFile: ReadFile): PageTool | undefined => {
  const installed = new Map([[voice.voiceName, voice]]);
  const states = { start: () => ignored, failures: () => [] };
  if (voice.package.name === "pico")
    return { tool: pico({ installed, states }), ...speakingWith(speakPico(readFile)) };
  if (voice.package.name !== "hibari") return undefined;
  const tool = hibari({ host: { speakByModel: neverLoaded }, installed, states, idleMs: 0 });
  return { tool, ...speakingWith(speakHibari(readFile)) };
};

const speakingWith = (speak: SpeakByModel): SpeechHost => ({
  synthesize: speakInProcess((job, _signal, _isContinuation, onEnd) => {
    if (job.type !== "model") throw new TypeError("Only models speak in this page.");
    return speak(job, onEnd);
  }),
});

const neverLoaded = (): never => {
  throw new TypeError("No model is loaded ahead in this page.");
};

const ignored = { succeeded: () => undefined, failed: () => undefined, ignored: () => undefined };

/**
 * Describes the voice as a service with the published files does. `readFile` checks that the files
 * are the published ones.
 */
const installedVoice = (voiceName: string): InstalledVoice | undefined => {
  const [prefix = "", name = ""] = voiceName.split(":");
  const found = voicePackages.find((one) => one.name === prefix);
  const needed = found?.voices[name];
  if (!found || !needed) return undefined;
  return { voiceName, package: found, folder: prefix, digest: digestOfFiles(found.files, needed) };
};

/** Does what the speaker process does with a request. */
const speakHibari = (readFile: ReadFile): SpeakByModel =>
  async function* ({ model, request }, onEnd) {
    const { speak } = await loadOnce(model.name, () => loadHibari(model.start as HibariStart, readFile));
    const events: VoiceEvent[] = [];
    yield wavHeader(sampleRate, espeakUnknownSize);
    for await (const { buffer } of speak(request as HibariRequest, (event) => events.push(event)))
      yield Buffer.from(buffer);
    onEnd({ events });
  };

const loadHibari = async ({ model, folder, isBritish }: HibariStart, readFile: ReadFile) => {
  const wasm = await readFile("onnxruntime.wasm");
  const read = (name: string) => readFile(`${folder}/${name}`);
  const openModel = (model: Uint8Array<ArrayBuffer>) => openOnnxSession({ wasm, model });
  return createHibariVoice({
    model: await openHibari({ wasm, model: await readFile(model) }),
    frontEnd: await loadEnglish(isBritish ? "gb" : "us", { read, openModel }),
    vocabulary: JSON.parse(new TextDecoder().decode(await read("vocab.json"))),
  });
};

const speakPico = (readFile: ReadFile): SpeakByModel =>
  async function* ({ model, request }) {
    const { voice, ...given } = request as PicoRequest;
    const files = (model.start as PicoStart).voices[voice];
    if (!files) throw new Error("There is no such voice.");
    const engine = await openPicoEngine({
      textAnalysis: await readFile(files.textAnalysis),
      signal: await readFile(files.signal),
      wasmBinary: await readFile("svoxpico.wasm"),
    });
    const { prosodyTags, text } = picoText(given);
    yield wavHeader(picoRate, espeakUnknownSize);
    for (const { samples } of speakInParts(engine, prosodyTags, text)) if (samples.length > 0) yield samples;
  };

/** The model that was used last. Only this one stays in memory. */
let loaded: { readonly name: string; readonly voice: Promise<HibariVoice> } | undefined;

const loadOnce = async (name: string, load: () => Promise<HibariVoice>): Promise<HibariVoice> => {
  if (loaded?.name !== name) loaded = { name, voice: load() };
  try {
    return await loaded.voice;
  } catch (error) {
    loaded = undefined;
    throw error;
  }
};
