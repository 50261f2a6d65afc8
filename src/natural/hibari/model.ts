import { type OnnxSession, openOnnxSession, Tensor, type Tensors } from "../onnx/session.ts";
import type { Spectra } from "./waveform.ts";

interface HibariFiles {
  readonly wasm: Uint8Array<ArrayBuffer>;
  readonly model: Uint8Array<ArrayBuffer>;
}

interface HibariOutputs extends Spectra {
  /** Frames before the first symbol. */
  readonly lead: number;
  /** Frames of each symbol. */
  readonly frames: readonly number[];
}

export interface HibariModel {
  /** `ids`: the ids of the symbols, without the pause at both ends. `speed`: 2 is twice as fast. */
  run(ids: readonly number[], speed: number): Promise<HibariOutputs>;
  close(): Promise<void>;
}

/** The symbol at both ends of a sentence. */
const pause = 0;
/** The model's output with a duration per symbol, which its file does not declare. */
const durations = "/Clip_output_0";
const framesPerDuration = 2;

/** @throws if the file is no model of hibari */
export const openHibari = async ({ wasm, model }: HibariFiles): Promise<HibariModel> => {
  const session = await openOnnxSession({ wasm, model, innerOutput: durations });
  return { run: (ids, speed) => run(session, ids, speed), close: session.close };
};

const run = async (session: OnnxSession, ids: readonly number[], speed: number): Promise<HibariOutputs> => {
  const all = BigInt64Array.from([pause, ...ids, pause], BigInt);
  const outputs = await session.run({
    ids: new Tensor("int64", all, [1, all.length]),
    speed: new Tensor("float32", [speed], [1]),
  });
  const [lead = 0, ...frames] = Array.from(floats(outputs, durations), (one) => framesPerDuration * one);
  return {
    lh: floats(outputs, "lh"),
    theta: floats(outputs, "theta"),
    ln: floats(outputs, "ln"),
    lr: floats(outputs, "lr"),
    phi: floats(outputs, "phi"),
    f0: floats(outputs, "f0"),
    lead,
    frames: frames.slice(0, -1),
  };
};

const floats = (outputs: Tensors, name: string): Float32Array => {
  const data = outputs[name]?.data;
  if (!(data instanceof Float32Array)) throw new TypeError(`The model has no output ${name}.`);
  return data;
};
