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
}

/** Part of the recipe of audio: another version may round differently. */
export const onnxRuntime = `onnxruntime-web ${env.versions.web}`;

/**
 * Loads a model. One thread, so that sums have one order: equal inputs give equal bytes on every machine.
 * @throws if WebAssembly or the runtime refuses one of the files
 */
export const openOnnxSession = async ({ wasm, model }: OnnxFiles): Promise<OnnxSession> => {
  env.wasm.wasmBinary = wasm;
  env.wasm.numThreads = 1;
  const session = await InferenceSession.create(model, { executionProviders: ["wasm"] });
  return {
    inputs: session.inputNames,
    outputs: session.outputNames,
    run: (inputs) => session.run(inputs),
    close: () => session.release(),
  };
};
