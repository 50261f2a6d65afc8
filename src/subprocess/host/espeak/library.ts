import koffi from "koffi";
import type { EspeakRequest, SpeechEvent } from "../../espeak.ts";
import { openDelayedFree } from "./delayed-free.ts";
import { inspectLibrary } from "./loaded-library.ts";

export type EspeakLibrary = ReturnType<typeof openEspeakLibrary>;

/**
 * Debian's name of the library with the ABI below (espeak_ng.h and speak_lib.h of 1.49 to 1.52).
 */
const libraryName = "libespeak-ng.so.1";

const synchronousOutput = 1; // ENOUTPUT_MODE_SYNCHRONOUS
const positionIsCharacter = 1; // POS_CHARACTER
/** The flags that the command line passes: espeakCHARS_AUTO and espeakENDPAUSE. */
const textFlags = 0x1000;
/** espeakPHONEMES: the library reads `[[…]]` as phonemes. */
const phonemesFlag = 0x100;
const ssmlFlag = 0x10; // espeakSSML
const utf8Text = 1; // espeakCHARS_UTF8
/** espeakPHONEMES_IPA, and `^` as the tie between the parts of a phoneme. */
const tiedIpa = 0x02 | 0x80 | ("^".charCodeAt(0) << 8);
const statusOk = 0; // EE_OK
const parameters = { rate: 1, volume: 2, pitch: 3 } as const; // espeak_PARAMETER
const eventKinds: Readonly<Record<number, SpeechEvent["kind"]>> = { 1: "word", 2: "sentence" };
const endOfEvents = 0; // espeakEVENT_LIST_TERMINATED

const eventType = koffi.struct("espeak_EVENT", {
  type: "int",
  unique_identifier: "uint",
  text_position: "int",
  length: "int",
  audio_position: "int",
  sample: "int",
  user_data: "void *",
  id: koffi.array("uint8", 8),
});
const eventBytes = koffi.sizeof(eventType);
const callbackType = koffi.proto("int espeak_callback(void *samples, int count, void *events)");

interface NativeEvent {
  readonly type: number;
  readonly text_position: number;
  readonly length: number;
  readonly sample: number;
}

type Receive = (samples: Buffer, events: readonly NativeEvent[]) => void;

/**
 * Opens espeak-ng's library. Calls block, and callbacks run within them. Three faults of the
 * library are corrected, so that its samples are those of the command line:
 * - It keeps state between texts that no call resets: sounds differ in length after another voice.
 *   So before each text, all its variables get the values that they had when it was loaded. The
 *   random numbers of the C library, which some variants use as noise, are also restarted.
 * - It reads parts of its stack that it has not written (found by Valgrind in 1.51, for words whose
 *   phonemes it does not know). All calls use the same stack of koffi, which would still contain
 *   data of an earlier text. So the stack is cleared before, by passing a structure by value.
 * - It uses memory after it has freed it. So its `free` is delayed while it speaks
 *   (delayed-free.ts).
 * @throws {Error} if the library is not installed, or not as expected
 */
export const openEspeakLibrary = (open = openNative) => {
  let receive: Receive = () => undefined;
  const library = open((samples, events) => receive(samples, events));
  let isUsed = false;
  const version = library.info(null).split(" ", 1)[0] ?? "";
  const reset = (): void => {
    if (isUsed) library.reset();
    isUsed = false;
  };

  return {
    /** espeak-ng's own version. */
    version,
    /** The rate of the samples, in Hz. */
    sampleRate: (): number => library.sampleRate(),
    /** Resets the library, so that the next text starts at once. Call it between two texts. */
    reset,
    /**
     * Speaks one text. `onSamples` receives s16le mono samples as they are made. Returns the
     * events.
     * @throws {Error} if there is no such voice, or the library did not speak the whole text
     */
    speak: (
      { voice, text, ssml, phonemes, ...prosody }: EspeakRequest,
      onSamples: (samples: Buffer) => void,
    ): readonly SpeechEvent[] => {
      if (text === "") return []; // like the command line; the library itself would return a pause
      reset();
      isUsed = true;
      library.seedRandom(1);
      if (library.setVoice(voice) !== 0) throw new Error("There is no such voice.");
      for (const parameter of ["rate", "volume", "pitch"] as const) {
        library.setParameter(parameters[parameter], prosody[parameter], 0);
      }
      const events: SpeechEvent[] = [];
      receive = (samples, more) => {
        for (const event of more) {
          const kind = eventKinds[event.type];
          const { text_position: position, length, sample } = event;
          if (kind) events.push({ kind, position: position - 1, length, sample });
        }
        if (samples.length > 0) onSamples(samples);
      };
      const input = Buffer.from(`${text}\0`);
      const flags = textFlags | (ssml ? ssmlFlag : 0) | (phonemes ? phonemesFlag : 0);
      library.clearStack();
      const status = library.synthesize(input, input.length, 0, positionIsCharacter, 0, flags, null, null);
      if (status !== statusOk) throw new Error(`The library did not speak the text (status ${status}).`);
      return events;
    },
    /**
     * Returns the phonemes of a text in the International Phonetic Alphabet, with `^` between the
     * parts of a phoneme.
     * @throws {Error} if there is no such voice
     */
    phonemes: (voice: string, text: string): string => {
      reset();
      isUsed = true;
      if (library.setVoice(voice) !== 0) throw new Error("There is no such voice.");
      library.clearStack();
      return library.phonemes(text);
    },
    /**
     * Call it before the process ends. Otherwise the library's thread would still run while its
     * code is unloaded.
     */
    close: (): void => library.close(),
  };
};

const nothing = Buffer.alloc(0);

/** The size of the cleared part of the stack: more than all stack frames of a text. */
const stackBytes = 256 * 1024;
const stackType = koffi.struct("stack", { bytes: koffi.array("uint8", stackBytes) });
const clean = { bytes: new Uint8Array(stackBytes) };

const readEvents = (list: unknown): NativeEvent[] => {
  const events: NativeEvent[] = [];
  for (let at = 0; koffi.decode(list, at, "int") !== endOfEvents; at += eventBytes) {
    events.push(koffi.decode(list, at, eventType) as NativeEvent);
  }
  return events;
};

/** Loads the library and initialises it as its command line does. */
const openNative = (receive: Receive) => {
  const libc = koffi.load(null);
  const takeStack = libc.func("getpid", "int", [stackType]) as (stack: typeof clean) => number;
  const library = koffi.load(libraryName);
  const synthesizeAddress = library.symbol("espeak_Synth") as bigint;
  const loaded = inspectLibrary(synthesizeAddress);
  const variables = loaded.variables.slice();
  const delayFree = openDelayedFree(loaded);
  const callback = koffi.register((samples: unknown, count: number, events: unknown): number => {
    const copy = samples && count > 0 ? Buffer.from(new Uint8Array(koffi.view(samples, 2 * count))) : nothing;
    receive(copy, readEvents(events));
    return 0;
  }, koffi.pointer(callbackType));
  const initializePath = library.func("void espeak_ng_InitializePath(const char *path)");
  const initialize = library.func("int espeak_ng_Initialize(void *context)");
  const initializeOutput = library.func(
    "int espeak_ng_InitializeOutput(int mode, int length, const char *device)",
  );
  const setCallback = library.func("void espeak_SetSynthCallback(void *callback)");
  const terminate = library.func("int espeak_ng_Terminate()") as () => void;
  const start = (): void => {
    initializePath(null);
    const status = initialize(null) || initializeOutput(synchronousOutput, 0, null);
    if (status !== 0) {
      loaded.variables.set(variables); // a later attempt begins with these values, too
      throw new Error(`espeak-ng could not be initialised (status ${status}).`);
    }
    setCallback(callback);
  };
  start();
  const textToPhonemes = library.func(
    "const char *espeak_TextToPhonemes(_Inout_ const void **text, int mode, int phonemes)",
  ) as (text: unknown[], mode: number, phonemes: number) => string | null;
  const synthesize = library.func(
    "int espeak_Synth(const void *text, size_t size, uint position, int type, uint end, uint flags, void *id, void *data)",
  ) as (...args: readonly unknown[]) => number;
  return {
    seedRandom: libc.func("void srand(unsigned int seed)") as (seed: number) => void,
    clearStack: (): void => void takeStack(clean),
    info: library.func("const char *espeak_Info(void *path)") as (path: null) => string,
    sampleRate: library.func("int espeak_ng_GetSampleRate()") as () => number,
    setVoice: library.func("int espeak_ng_SetVoiceByName(const char *name)") as (name: string) => number,
    setParameter: library.func("int espeak_SetParameter(int parameter, int value, int relative)") as (
      ...args: readonly number[]
    ) => number,
    synthesize: (...args: readonly unknown[]): number => delayFree(() => synthesize(...args)),
    phonemes: (text: string): string => {
      const input = Buffer.from(`${text}\0`);
      const memory = koffi.alloc("char", input.length);
      koffi.encode(memory, koffi.array("uint8", input.length), input);
      const clauses: string[] = [];
      // Each call reads a clause and moves the pointer, at last to null.
      delayFree(() => {
        for (const at = [memory as unknown]; at[0] !== null; )
          clauses.push(textToPhonemes(at, utf8Text, tiedIpa) ?? "");
      });
      koffi.free(memory);
      return clauses.join(" ");
    },
    /** Frees the library's memory, and sets its variables to the values that it was loaded with. */
    reset: (): void => {
      terminate();
      loaded.variables.set(variables);
      start();
    },
    /** Ends the library's thread, which must not outlive its code. */
    close: terminate,
  };
};
