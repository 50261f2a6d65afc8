import type { SpeechEvent } from "../../../espeak.ts";
import type { SherpaRequest, SherpaStart } from "../../../sherpa.ts";
import { createWavWriter, readLines, reportDone, reportFailure, reportReady } from "../../speaker-program.ts";
import { type LoadedModel, loadModel } from "./library.ts";

/**
 * The program of a process with one model of sherpa-onnx. Its argument is the model's
 * configuration. It writes each part of a request when the part is ready. The library may end the
 * process instead of throwing. To end a request early, the process is killed.
 */

const main = async (): Promise<void> => {
  const model = load();
  if (!model) return;
  reportReady(String(model.sampleRate));
  for (const line of readLines()) {
    try {
      reportDone({ events: await speak(model, JSON.parse(line) as SherpaRequest), isLast: false });
    } catch (error) {
      reportFailure(error);
    }
  }
};

const load = (): LoadedModel | undefined => {
  try {
    return loadModel(JSON.parse(process.argv[2] ?? "{}") as SherpaStart);
  } catch (error) {
    reportFailure(error);
    return undefined;
  }
};

const speak = async (
  model: LoadedModel,
  { speaker, speed, parts }: SherpaRequest,
): Promise<readonly SpeechEvent[]> => {
  const wav = createWavWriter(() => model.sampleRate);
  const events: SpeechEvent[] = [];
  let sample = 0;
  const add = (samples: Buffer): void => {
    wav.add(samples);
    wav.flush();
    sample += samples.length / 2;
  };
  add(Buffer.alloc(0));
  for (const { text, position, pauseMs } of parts) {
    const spoken = text === "" ? nothing : await model.speak(text, speaker, speed);
    if (spoken.length > 0) events.push({ kind: "sentence", position, length: 0, sample });
    add(toPcm(spoken));
    if (pauseMs > 0) add(Buffer.alloc(2 * Math.round((pauseMs * model.sampleRate) / 1000)));
  }
  return events;
};

const nothing = new Float32Array();

/**
 * Converts samples to s16le. Values outside of -1 to 1 are clipped; values that are not numbers
 * become silence.
 */
const toPcm = (samples: Float32Array): Buffer => {
  const pcm = Buffer.allocUnsafe(2 * samples.length);
  for (const [index, value] of samples.entries()) {
    const level = Math.round(32_767 * Math.max(-1, Math.min(1, value)));
    pcm.writeInt16LE(Number.isNaN(level) ? 0 : level, 2 * index);
  }
  return pcm;
};

await main();
