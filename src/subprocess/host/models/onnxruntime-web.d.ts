declare module "onnxruntime-web/ort-wasm-simd-threaded.mjs" {
  /** Emscripten's module of the runtime. Pointers are numbers. */
  export interface OnnxRuntime {
    readonly HEAPU8: Uint8Array<SharedArrayBuffer>;
    _OrtCreateRunOptions(logSeverity: number, logVerbosity: number, terminate: boolean, tag: number): number;
    _OrtReleaseRunOptions(options: number): void;
  }
  export default function createRuntime(configuration: object): Promise<OnnxRuntime>;
}
