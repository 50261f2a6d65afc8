import type { ModelProgram } from "../../models.ts";
import type { SpeakerOptions } from "../speaker-process.ts";

/** The runtime has fewer functions. */
const noFunction = 1_000_000;

/**
 * The ONNX runtime has a function whose optimization takes 350 MB and makes nothing faster. Its
 * first call is when a model is opened: V8 never optimizes functions whose first call is before
 * `optimizeFunctions`, because of the filter. The budget is so large that only the functions are
 * optimized that take most of the time.
 */
const onnxFlags = ["--wasm-tiering-budget=2147483647", `--wasm-tier-up-filter=${noFunction}`];

/**
 * The optimizing compiler's memory, in blocks of 32 KB, goes back to the system when it is done:
 * 100 MB.
 */
const onnxEnvironment = { MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: "16384" };

export const programOptions: Readonly<Record<ModelProgram, Pick<SpeakerOptions, "flags" | "env">>> = {
  hibari: { flags: onnxFlags, env: onnxEnvironment },
  kokoro: { flags: onnxFlags, env: onnxEnvironment },
  pico: {},
  sherpa: {},
};
