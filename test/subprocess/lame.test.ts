import { readFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { availableParallelism, getPriority } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { createWaiter } from "../../src/async/scheduler/waiter.ts";
import { wavHeader } from "../../src/domain/synthesis/wav-header.ts";
import { openLame } from "../../src/subprocess/host/lame/library.ts";
import koffi from "../../src/subprocess/native-libraries.ts";
import {
  lameLibraryName,
  openSubprocessHost,
  type SubprocessHost,
} from "../../src/subprocess/subprocess-host.ts";
import { ToolFailed } from "../../src/subprocess/tools.ts";
import { collect } from "../support/collect.ts";
import { duringSuite } from "../support/during.ts";
import { childrenOf, until } from "../support/processes.ts";
import { rejection } from "../support/rejection.ts";
import { temporaryFolder } from "../support/service.ts";

const never = new AbortController().signal;
const rates = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
/** One of each version of MPEG audio. Frames of the same version have the same length. */
const versionRates = [8000, 22_050, 44_100];

/** A tone that rises, with some noise. */
const tone = (sampleRate: number, samples: number): Buffer => {
  const pcm = Buffer.alloc(2 * samples);
  for (let at = 0; at < samples; at++) {
    const phase = (2 * Math.PI * (220 + at / 50) * at) / sampleRate;
    pcm.writeInt16LE(Math.round(12_000 * Math.sin(phase)) + ((at * 7919) % 501), 2 * at);
  }
  return pcm;
};

async function* wavOf(sampleRate: number, pcm: Buffer, chunk: number): AsyncIterable<Buffer> {
  const wav = Buffer.concat([wavHeader(sampleRate, 0xffff_ffff), pcm]);
  for (let at = 0; at < wav.length; at += chunk) yield wav.subarray(at, at + chunk);
}

describe("mp3 by LAME's library", () => {
  const library = duringSuite(() => openSubprocessHost({ encodersAhead: { mp3: 1 } }));
  const command = duringSuite(() => openSubprocessHost({ encodersAhead: {}, mp3ByLibrary: false }));

  let keys = 0;
  /** Long responses are encoded on other threads than short ones. Each is of another key. */
  const slotOptionsOf = (length: "short" | "long") => ({
    waiter: createWaiter(`key ${++keys}`, length === "long" ? 400 : 1),
  });
  const encode = async (
    host: SubprocessHost,
    sampleRate: number,
    pcm: Buffer,
    { chunk = 4001, length = "short" }: { chunk?: number; length?: "short" | "long" } = {},
  ) => {
    const input = wavOf(sampleRate, pcm, chunk);
    const job = { format: "mp3", sampleRate, input } as const;
    return Buffer.concat(await collect(host.encode(job, never, slotOptionsOf(length))));
  };
  const encoderProcesses = () =>
    childrenOf(library.stats().pid ?? 0).filter(({ command }) => command === "ffmpeg");

  it("needs no process of ffmpeg, not even one that is started ahead", async () => {
    // A job that only ffmpeg can do: of other formats, encoders would wait from then on.
    await encode(library, 22_000, tone(22_000, 5000));
    await until("ffmpeg has ended", () => encoderProcesses().length === 0);
    await encode(library, 22_050, tone(22_050, 5000));
    expect(encoderProcesses()).to.deep.equal([]);
  });

  for (const rate of rates) {
    it(`has the bytes of ffmpeg: ${rate} Hz, sounds of any length`, async () => {
      for (const samples of versionRates.includes(rate) ? [1, 575, 1152, 1153, rate] : [1153, rate]) {
        const pcm = tone(rate, samples);
        const expected = await encode(command, rate, pcm);
        for (const length of ["short", "long"] as const) {
          const encoded = await encode(library, rate, pcm, { length });
          expect(encoded.equals(expected), `${samples} samples, ${length} answer`).to.equal(true);
        }
      }
    });
  }

  it("has the same bytes for 40 encodings at once, in chunks of any size", async () => {
    const sounds = Array.from({ length: 40 }, (_, n) => ({
      rate: rates[n % rates.length] ?? 0,
      pcm: tone(rates[n % rates.length] ?? 0, 1000 * (n + 1)),
    }));
    const alone: Buffer[] = [];
    for (const { rate, pcm } of sounds) alone.push(await encode(library, rate, pcm, { chunk: pcm.length }));
    const together = await Promise.all(
      sounds.map(({ rate, pcm }, n) =>
        encode(library, rate, pcm, { chunk: 100 + 997 * n, length: n % 2 === 0 ? "long" : "short" }),
      ),
    );
    for (const [n, mp3] of together.entries()) expect(mp3.equals(alone[n] ?? Buffer.of())).to.equal(true);
  });

  it("leaves sample rates that need resampling to ffmpeg", async () => {
    const pcm = tone(22_000, 22_000);
    const [ours, theirs] = [await encode(library, 22_000, pcm), await encode(command, 22_000, pcm)];
    expect(ours.equals(theirs)).to.equal(true);
  });

  for (const length of ["short", "long"] as const)
    it(`ends at once when its signal is aborted, with the signal's reason: ${length} answer`, async () => {
      const endless = async function* () {
        yield wavHeader(22_050, 0xffff_ffff);
        for (const second = tone(22_050, 22_050); ; ) yield second;
      };
      const stop = new AbortController();
      const job = { format: "mp3", sampleRate: 22_050, input: endless() } as const;
      const sound = library.encode(job, stop.signal, slotOptionsOf(length))[Symbol.asyncIterator]();
      await sound.next();
      const reason = new Error("the caller left");
      stop.abort(reason);
      const rest = async () => {
        while (!(await sound.next()).done);
      };
      expect(await rejection(rest())).to.equal(reason);
      await until("the slot is free again", () => library.stats().running === 0);
    });

  it("exceeds neither its deadline nor the output limit", async () => {
    const endless = async function* () {
      yield wavHeader(22_050, 0xffff_ffff);
      for (const second = tone(22_050, 22_050); ; ) yield second;
    };
    /**
     * An encoder's deadline is later by twice the duration of its input: here by a fifth of a
     * second.
     */
    const stalled = async function* () {
      yield wavHeader(22_050, 0xffff_ffff);
      yield tone(22_050, 2_205);
      await new Promise(() => {});
    };
    for (const [limit, reason, length, source] of [
      [{ deadlineMs: 100 }, "deadline", "short", stalled],
      [{ deadlineMs: 100 }, "deadline", "long", stalled],
      [{ maxOutputBytes: 20_000 }, "flood", "short", endless],
      [{ maxOutputBytes: 20_000 }, "flood", "long", endless],
    ] as const) {
      const job = { format: "mp3", sampleRate: 22_050, input: source(), ...limit } as const;
      const failure = await rejection(collect(library.encode(job, never, slotOptionsOf(length))));
      expect(failure).to.be.instanceOf(ToolFailed).with.property("reason", reason);
    }
    await until("the slots are free again", () => library.stats().running === 0);
  });

  it("lowers the priority of the threads that encode long responses", async () => {
    const { pid = 0 } = library.stats();
    const threads = await readdir(`/proc/${pid}/task`);
    const names = await Promise.all(
      threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/comm`, "utf8")),
    );
    const workers = threads.filter((_, index) => names[index] === "libuv-worker\n");
    expect(workers).to.have.length.above(0);
    for (const worker of workers)
      expect(getPriority(Number(worker))).to.equal(Math.min(getPriority(pid) + 5, 19));
  });

  it("encodes long responses too while short ones are encoded", async () => {
    const lame = openLame(lameLibraryName);
    const pcm = tone(22_050, 5000);
    const ended = new AbortController();
    const keepEncoding = async () => {
      const short = lame.open(22_050, true);
      for (; !ended.signal.aborted; await setImmediate()) await short.encode(pcm);
      short.close();
    };
    const shorts = Array.from({ length: 3 * availableParallelism() }, keepEncoding);
    const long = lame.open(22_050, false);
    for (let calls = 0; calls < 20; calls++) await long.encode(pcm);
    ended.abort();
    await Promise.all(shorts);
    long.close();
  });
});

describe("a library of LAME that cannot be used", () => {
  const folder = duringSuite(temporaryFolder);

  /** The mp3 of a host with this library, and what it warns of. */
  const encodeWith = async (mp3Library: string) => {
    const warnings: string[] = [];
    const warn = (sentence: string) => void warnings.push(sentence);
    await using opened = new AsyncDisposableStack();
    const host = await openSubprocessHost({ encodersAhead: {}, mp3Library, warn });
    opened.defer(host.close);
    const input = wavOf(22_050, tone(22_050, 5000), 4001);
    const mp3 = Buffer.concat(
      await collect(host.encode({ format: "mp3", sampleRate: 22_050, input }, never)),
    );
    return { mp3, warnings, stats: host.stats() };
  };

  /** Its last pages are missing: the dynamic loader gets SIGBUS. */
  const damaged = async (): Promise<string> => {
    koffi.load(lameLibraryName);
    const path = /\S+libmp3lame\S*/.exec(readFileSync("/proc/self/maps", "utf8"))?.[0] ?? "";
    const bytes = await readFile(path);
    const copy = join(folder.path, "damaged.so");
    await writeFile(copy, bytes.subarray(0, bytes.length / 2));
    return copy;
  };

  for (const [what, library, reason] of [
    ["is missing", async () => "libnone.so.0", "LAME's library cannot be loaded."],
    ["lacks its functions", async () => "libm.so.6", "LAME's library cannot be loaded."],
    ["crashes the process that loads it", damaged, "LAME's library crashed (SIGBUS)."],
  ] as const) {
    it(`is replaced by ffmpeg, with the same bytes, and reported: it ${what}`, async () => {
      const [expected, { mp3, warnings, stats }] = await Promise.all([
        encodeWith(lameLibraryName),
        encodeWith(await library()),
      ]);
      expect(expected.warnings).to.deep.equal([]);
      expect(mp3.equals(expected.mp3)).to.equal(true);
      expect(warnings).to.deep.equal([`ffmpeg encodes mp3, which is slower: ${reason}`]);
      expect(stats.mp3Fallback).to.equal(reason);
      expect(stats.restarts).to.equal(0);
    });
  }
});
