import { openOnnxSession, Tensor } from "../onnx/session.ts";

interface KokoroFiles {
  readonly wasm: Uint8Array<ArrayBuffer>;
  readonly model: Uint8Array<ArrayBuffer>;
}

interface KokoroOutputs {
  readonly audio: Float32Array;
  /** Frames before the first symbol. */
  readonly lead: number;
  /** Frames of each symbol. */
  readonly frames: readonly number[];
}

interface KokoroManner {
  /** A vector of the voice. */
  readonly style: Float32Array;
  /** 2 is twice as fast. */
  readonly speed: number;
  /** The factor for the frequency of the voice. */
  readonly pitch: number;
}

export interface KokoroModel {
  /** `ids`: the ids of the symbols, without the pause at both ends. */
  run(ids: readonly number[], manner: KokoroManner): Promise<KokoroOutputs>;
  close(): Promise<void>;
}

/** The symbol at both ends of a sentence. */
const pause = 0;
/** A duration per symbol. */
const durations = "/encoder/Clip_output_0";
/** The frequency of the voice in each frame, in Hz. */
const frequency = "/encoder/Squeeze_output_0";

/** @throws if the file is no model of Kokoro */
export const openKokoro = async (files: KokoroFiles): Promise<KokoroModel> => {
  const session = await openOnnxSession({
    ...files,
    innerOutput: durations,
    scaled: { value: frequency, input: "pitch" },
  });
  const run: KokoroModel["run"] = async (ids, { style, speed, pitch }) => {
    const all = BigInt64Array.from([pause, ...ids, pause], BigInt);
    const outputs = await session.run({
      tokens: new Tensor("int64", all, [1, all.length]),
      style: new Tensor("float32", style, [1, style.length]),
      speed: new Tensor("float32", [speed], [1]),
      pitch: new Tensor("float32", [pitch], [1]),
    });
    const audio = outputs.audio?.data;
    const frames = outputs[durations]?.data;
    if (!(audio instanceof Float32Array && frames instanceof Float32Array))
      throw new TypeError("The model has no audio or durations.");
    const [lead = 0, ...others] = frames;
    return { audio, lead, frames: others.slice(0, -1) };
  };
  return { run, close: session.close };
};
