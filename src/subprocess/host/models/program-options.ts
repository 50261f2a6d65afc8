import type { ModelProgram } from "../../models.ts";
import type { SpeakerOptions } from "../speaker-process.ts";

/**
 * The ONNX runtime has a function whose optimization takes 300 MB and makes nothing faster. The budget is so large that only the
 * functions are optimized that take most of the time.
 */
const onnxFlags = ["--wasm-tiering-budget=2147483647"];

/** The optimizing compiler's memory, in blocks of 32 KB, goes back to the system when it is done: 100 MB. */
const onnxEnvironment = { MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: "16384" };

export const programOptions: Readonly<Record<ModelProgram, Pick<SpeakerOptions, "flags" | "env">>> = {
  hibari: { flags: onnxFlags, env: onnxEnvironment },
  kokoro: { flags: onnxFlags, env: onnxEnvironment },
  pico: {},
  sherpa: {},
};
