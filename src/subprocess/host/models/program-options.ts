import type { ModelProgram } from "../../models.ts";
import type { SpeakerOptions } from "../speaker-process.ts";

/** A number of no function: the runtime has fewer functions. */
const noFunction = 1_000_000;

/**
 * The ONNX runtime has a function whose optimization takes 350 MB and makes nothing faster. This
 * function is first called when a model is opened. Because of the filter, V8 never optimizes
 * functions that are first called before `optimizeFunctions` is called. The budget is so large that
 * V8 optimizes only the functions that take most of the time.
 */
const onnxFlags = ["--wasm-tiering-budget=2147483647", `--wasm-tier-up-filter=${noFunction}`];

/**
 * These settings return the memory of the optimizing compiler, 100 MB in blocks of 32 KB, to the
 * system when it is done.
 */
const onnxEnvironment = { MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: "16384" };

export const programOptions: Readonly<Record<ModelProgram, Pick<SpeakerOptions, "flags" | "env">>> = {
  hibari: { flags: onnxFlags, env: onnxEnvironment },
  kokoro: { flags: onnxFlags, env: onnxEnvironment },
  pico: {},
  sherpa: {},
};
