import { availableParallelism } from "node:os";
import pLimit from "p-limit";
import koffi, { type LibraryHandle } from "../../native-libraries.ts";

export type LameLibrary = ReturnType<typeof openLame>;

/** One mp3, of s16le mono samples. */
export type LameStream = ReturnType<LameLibrary["open"]>;

const sampleRates: ReadonlySet<number> = new Set([
  8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000,
]);
const kbitPerSecond = 64;
const jointStereo = 1; // JOINT_STEREO, as ffmpeg; LAME turns it into MONO for one channel
/** The largest output of a call, by lame.h. */
const outputBytes = (samples: number): number => Math.ceil(1.25 * samples) + 7200;
/**
 * Long audio leaves a core to short audio. libuv has four threads, and koffi takes memory for each
 * call that waits for one.
 */
const threads = Math.max(1, Math.min(4, availableParallelism() - 1));

/** Each function takes the encoder first. */
const settings = {
  num_channels: 1,
  brate: kbitPerSecond,
  mode: jointStereo,
  bWriteVbrTag: 0,
  quality: 7,
} as const;

/**
 * LAME's library, which ffmpeg itself uses for mp3. A process of ffmpeg takes 60 ms of CPU time
 * before its first sample (it links 200 libraries); a call of LAME takes 11 ms for seven seconds of
 * speech. With the parameters above its bytes are those of `ffmpeg -codec:a libmp3lame -b:a 64k
 * -write_xing 0 -compression_level 7`.
 * @param name or path.
 * @throws {Error} the library is not installed, or not as expected
 */
export const openLame = (name: string) => {
  const library = koffi.load(name);
  const setter = (name: string) => library.func(`int lame_set_${name}(void *lame, int value)`);
  const setters = Object.entries(settings).map(([name, value]) => ({ set: setter(name), value }));
  const rates = [setter("in_samplerate"), setter("out_samplerate")];
  const init = library.func("void *lame_init()");
  const start = library.func("int lame_init_params(void *lame)");
  const encodeSamples = library.func(
    "int lame_encode_buffer(void *lame, const void *left, const void *right, int samples, void *out, int size)",
  );
  const flush = library.func("int lame_encode_flush(void *lame, void *out, int size)");
  const close = library.func("int lame_close(void *lame)");

  const onThread = pLimit(threads);

  return {
    /** Sample rates that need no resampling. */
    takes: (sampleRate: number): boolean => sampleRates.has(sampleRate),
    /**
     * `isShort`: its calls run at once, in this thread; on a busy machine a switch to another and
     * back would take longer. Those of other audio run on libuv's threads.
     * @throws {Error} the rate is not one of them
     */
    open: (sampleRate: number, isShort: boolean) => {
      const lame = init();
      for (const { set, value } of setters) set(lame, value);
      for (const set of rates) set(lame, sampleRate);
      if (start(lame) < 0) {
        close(lame);
        throw new Error(`LAME does not take ${sampleRate} Hz.`);
      }
      const framesOf = async (
        samples: number,
        called: NativeFunction,
        ...args: unknown[]
      ): Promise<Buffer> => {
        const out = Buffer.allocUnsafeSlow(outputBytes(samples));
        const all = [lame, ...args, out, out.length];
        const size = isShort ? called(...all) : await onThread(callAsync, called, all);
        if (size < 0) throw new Error(`LAME failed with ${size}.`);
        return out.subarray(0, size);
      };
      return {
        /** Resolves with the frames that are complete, or with nothing. Whole samples only. */
        encode: (pcm: Buffer): Promise<Buffer> =>
          framesOf(pcm.length / 2, encodeSamples, pcm, pcm, pcm.length / 2),
        /** Resolves with the last frames. */
        finish: (): Promise<Buffer> => framesOf(0, flush),
        /** Frees its memory; to be called once, when no call is running. */
        close: (): void => void close(lame),
      };
    },
  };
};

type NativeFunction = ReturnType<LibraryHandle["func"]>;

/** Calls a function that returns a number. */
const callAsync = (called: NativeFunction, args: readonly unknown[]): Promise<number> =>
  new Promise((resolve, reject) => {
    called.async(...args, (error: unknown, size: number) => {
      if (error) reject(error);
      else resolve(size);
    });
  });
