import { env, InferenceSession, Tensor } from "onnxruntime-web/wasm";

export { Tensor };

/** By the names of the model's inputs or outputs. */
export type Tensors = Readonly<Record<string, Tensor>>;

export interface OnnxSession {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** One run at a time. @throws if the model refuses the inputs */
  run(inputs: Tensors): Promise<Tensors>;
  close(): Promise<void>;
}

export interface OnnxFiles {
  /** `onnxruntime-web/ort-wasm-simd-threaded.wasm`, which has no instructions that differ between processors. Only the first call needs it. */
  readonly wasm: Uint8Array<ArrayBuffer>;
  readonly model: Uint8Array<ArrayBuffer>;
  /** A value within the model that is to be an output, too. */
  readonly innerOutput?: string;
}

/** Part of the recipe of audio: another version may round differently. */
export const onnxRuntime = `onnxruntime-web ${env.versions.web}`;

/**
 * Loads a model. One thread, so that sums have one order: equal inputs give equal bytes on every machine.
 * @throws if WebAssembly or the runtime refuses one of the files
 */
export const openOnnxSession = async ({ wasm, model, innerOutput }: OnnxFiles): Promise<OnnxSession> => {
  env.wasm.wasmBinary = wasm;
  env.wasm.numThreads = 1;
  const file = innerOutput === undefined ? model : withOutput(model, innerOutput);
  const session = await InferenceSession.create(file, { executionProviders: ["wasm"] });
  return {
    inputs: session.inputNames,
    outputs: session.outputNames,
    run: (inputs) => session.run(inputs),
    close: () => session.release(),
  };
};

/**
 * The model with another output. Fields of protobuf that occur again are merged: these bytes are
 * one more `output` of the `graph`.
 */
const withOutput = (model: Uint8Array, name: string): Uint8Array<ArrayBuffer> => {
  const value = field(1, new TextEncoder().encode(name));
  const added = field(7, field(12, value));
  const joined = new Uint8Array(model.length + added.length);
  joined.set(model);
  joined.set(added, model.length);
  return joined;
};

/** A field of protobuf with less than 128 bytes. */
const field = (number: number, content: Uint8Array): Uint8Array =>
  Uint8Array.of((number << 3) | 2, content.length, ...content);
