import { availableParallelism } from "node:os";
import koffi, { type LibraryHandle } from "koffi";

/**
 * LAME's library, which ffmpeg itself uses for mp3. A process of ffmpeg takes 60 ms of CPU time before its first sample
 * (it links 200 libraries); a call of LAME takes 11 ms for seven seconds of speech. With the parameters below its bytes are
 * those of `ffmpeg -codec:a libmp3lame -b:a 64k -write_xing 0 -compression_level 7`. Calls run on the threads of libuv, one at a time for each
 * sound and as many as there are cores: koffi takes memory for each call, also for those that wait.
 */
export interface LameLibrary {
  /** Sample rates that need no resampling. */
  takes(sampleRate: number): boolean;
  /** `isUrgent`: most of its calls go before those of other sounds. @throws {Error} the rate is not one of them */
  open(sampleRate: number, isUrgent: boolean): LameSound;
}

/** One mp3, of s16le mono samples. */
export interface LameSound {
  /** Resolves with the frames that are complete, or with nothing. Whole samples only. */
  encode(pcm: Buffer): Promise<Buffer>;
  /** Resolves with the last frames. */
  finish(): Promise<Buffer>;
  /** Frees its memory; to be called once, when no call is running. */
  close(): void;
}

const sampleRates: ReadonlySet<number> = new Set([
  8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000,
]);
const kbitPerSecond = 64;
const jointStereo = 1; // JOINT_STEREO, as ffmpeg; LAME turns it into MONO for one channel
/** The largest output of a call, by lame.h. */
const outputBytes = (samples: number): number => Math.ceil(1.25 * samples) + 7200;
/** A call runs on a stack of koffi's. */
const stackBytes = 512 * 1024;

/** Each function takes the encoder first. */
const settings = {
  num_channels: 1,
  brate: kbitPerSecond,
  mode: jointStereo,
  bWriteVbrTag: 0,
  quality: 7,
} as const;

/** @param name or path. @throws {Error} the library is not installed, or not as expected */
export const openLame = (name: string): LameLibrary => {
  koffi.config({ ...koffi.config(), async_stack_size: stackBytes });
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

  const turns = createTurns(availableParallelism());
  const onThread = async (isUrgent: boolean, called: NativeFunction, ...args: unknown[]): Promise<number> => {
    await turns.enter(isUrgent);
    try {
      return await callAsync(called, args);
    } finally {
      turns.leave(isUrgent);
    }
  };

  return {
    takes: (sampleRate) => sampleRates.has(sampleRate),
    open: (sampleRate, isUrgent) => {
      const lame = init();
      for (const { set, value } of setters) set(lame, value);
      for (const set of rates) set(lame, sampleRate);
      if (start(lame) < 0) {
        close(lame);
        throw new Error(`LAME does not take ${sampleRate} Hz.`);
      }
      return {
        encode: async (pcm) => {
          const samples = pcm.length / 2;
          const out = Buffer.allocUnsafeSlow(outputBytes(samples));
          const size = await onThread(isUrgent, encodeSamples, lame, pcm, pcm, samples, out, out.length);
          return out.subarray(0, size);
        },
        finish: async () => {
          const out = Buffer.allocUnsafeSlow(outputBytes(0));
          return out.subarray(0, await onThread(isUrgent, flush, lame, out, out.length));
        },
        close: () => void close(lame),
      };
    },
  };
};

/** Then one of the other calls goes first: short answers without a pause must not stop long ones. */
const mostUrgentInRow = 4;

/**
 * A semaphore with two queues (p-limit has no priorities). One of several turns is reserved for urgent calls: encoding takes
 * two thirds of the processor's time, and would leave a short answer half of a core.
 */
const createTurns = (most: number) => {
  const mostOfOthers = Math.max(1, most - 1);
  const urgent: (() => void)[] = [];
  const others: (() => void)[] = [];
  const running = { urgent: 0, others: 0 };
  let urgentInRow = 0;

  const next = (): void => {
    if (running.urgent + running.others >= most) return;
    const mayBeOther = others.length > 0 && running.others < mostOfOthers;
    if (urgent.length > 0 && !(mayBeOther && urgentInRow >= mostUrgentInRow)) {
      running.urgent++;
      urgentInRow++;
      urgent.shift()?.();
    } else if (mayBeOther) {
      running.others++;
      urgentInRow = 0;
      others.shift()?.();
    }
  };

  return {
    enter: (isUrgent: boolean): Promise<void> =>
      new Promise((resolve) => {
        (isUrgent ? urgent : others).push(resolve);
        next();
      }),
    leave: (isUrgent: boolean): void => {
      running[isUrgent ? "urgent" : "others"]--;
      next();
    },
  };
};

type NativeFunction = ReturnType<LibraryHandle["func"]>;

/** Calls a function that returns a number of bytes, or an error below 0. */
const callAsync = (called: NativeFunction, args: readonly unknown[]): Promise<number> =>
  new Promise((resolve, reject) => {
    called.async(...args, (error: unknown, size: number) => {
      if (error) reject(error);
      else if (size < 0) reject(new Error(`LAME failed with ${size}.`));
      else resolve(size);
    });
  });
