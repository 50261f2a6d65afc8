import { setFlagsFromString } from "node:v8";
import createRuntime, { type OnnxRuntime } from "onnxruntime-web/ort-wasm-simd-threaded.mjs";
import { env } from "onnxruntime-web/wasm";
import type { StopByte } from "../requests.ts";

/**
 * The ONNX runtime of a speaker process, whose runs another thread can stop. The runtime reads
 * `OrtRunOptions.terminate` before each node of a model, but its JavaScript interface can set this
 * member only before a run. Therefore all runs share the same options, and this module finds the
 * address of the member.
 */

/** Call it before the first model is opened. The runtime then imports this module. */
export const makeRunsStoppable = (): void => {
  env.wasm.wasmPaths = { mjs: import.meta.url };
};

/** Call it when the first model is open: see program-options.ts. */
export const optimizeFunctions = (): void => setFlagsFromString("--wasm-tier-up-filter=-1");

/** The byte that stops a run. It is undefined until a model is open. */
export let stopRun: StopByte | undefined;

/** The member follows two integers and a `std::string` of 12 bytes. */
const offsetOfTerminate = 20;

export default async (configuration: object): Promise<OnnxRuntime> => {
  const runtime = await createRuntime(configuration);
  const [warnings, verbosity, noTag] = [2, 0, 0];
  const create = (terminate: boolean): number =>
    runtime._OrtCreateRunOptions(warnings, verbosity, terminate, noTag);
  const terminateOf = (options: number): StopByte =>
    new Uint8Array(runtime.HEAPU8.buffer, options + offsetOfTerminate, 1);

  const [options, example] = [create(false), create(true)];
  const stop = terminateOf(options);
  if (stop[0] !== 0 || terminateOf(example)[0] !== 1)
    throw new Error("This version of the ONNX runtime has other options of a run.");
  runtime._OrtReleaseRunOptions(example);
  stopRun = stop;
  return Object.assign(runtime, {
    _OrtCreateRunOptions: () => options,
    _OrtReleaseRunOptions: () => undefined,
  });
};
