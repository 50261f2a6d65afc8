declare module "@echogarden/svoxpico-wasm" {
  /** Emscripten's module of picoapi.h. Pointers and statuses are numbers. */
  export interface PicoModule {
    readonly HEAPU8: Uint8Array<ArrayBuffer>;
    readonly FS: { writeFile(path: string, bytes: Uint8Array): void };
    _malloc(bytes: number): number;
    _pico_initialize(memory: number, bytes: number, system: number): number;
    _pico_loadResource(system: number, path: number, resource: number): number;
    _pico_getResourceName(system: number, resource: number, name: number): number;
    _pico_createVoiceDefinition(system: number, voice: number): number;
    _pico_addResourceToVoiceDefinition(system: number, voice: number, resourceName: number): number;
    _pico_newEngine(system: number, voice: number, engine: number): number;
    _pico_putTextUtf8(engine: number, text: number, bytes: number, taken: number): number;
    _pico_getData(engine: number, samples: number, bytes: number, received: number, type: number): number;
  }
  export default function SvoxPico(options?: {
    readonly wasmBinary: Uint8Array<ArrayBuffer>;
  }): Promise<PicoModule>;
}
