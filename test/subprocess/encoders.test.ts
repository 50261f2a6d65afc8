import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { availableParallelism, getPriority } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import koffi from "koffi";
import { createWaiter } from "../../src/async/scheduler/waiter.ts";
import { type EncodedFormat, encodedFormats } from "../../src/domain/synthesis/formats.ts";
import { wavHeader } from "../../src/domain/synthesis/wav-header.ts";
import { encodeAsProcess } from "../../src/subprocess/host/encoders/encoder-process.ts";
import type { Encoding } from "../../src/subprocess/host/encoders/encoding.ts";
import { encodeByFfmpeg } from "../../src/subprocess/host/encoders/like-ffmpeg.ts";
import { createThreadAudios } from "../../src/subprocess/host/encoders/thread-audios.ts";
import { createEncodingThreads } from "../../src/subprocess/host/encoders/threads.ts";
import { Job } from "../../src/subprocess/host/job.ts";
import { detectVersions } from "../../src/subprocess/host/versions.ts";
import { windowBytes } from "../../src/subprocess/protocol.ts";
import { openSubprocessHost, type SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { ToolFailed } from "../../src/subprocess/tools.ts";
import { collect } from "../support/collect.ts";
import { duringSuite } from "../support/during.ts";
import { placeFakeTools } from "../support/fake-tools.ts";
import { createManualTime } from "../support/manual-time.ts";
import { childrenOf, signal, until } from "../support/processes.ts";
import { rejection } from "../support/rejection.ts";
import { temporaryFolder } from "../support/service.ts";

const never = new AbortController().signal;
const rates = [8000, 11_025, 16_000, 22_000, 22_050, 24_000, 32_000, 44_100, 48_000];
/** The rates of local voices. */
const usualRates = [16_000, 22_050, 24_000];

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

const ffmpegVersion = async (): Promise<string> => (await detectVersions()).ffmpeg ?? "";

async function* endless(): AsyncIterable<Buffer> {
  yield wavHeader(22_050, 0xffff_ffff);
  for (const second = tone(22_050, 22_050); ; ) yield second;
}

describe("encoders that are libraries", () => {
  const library = duringSuite(() => openSubprocessHost());

  let keys = 0;
  /** Long responses are encoded on other threads than short ones. Each is of another key. */
  const slotOptionsOf = (length: "short" | "long") => ({
    waiter: createWaiter(`key ${++keys}`, length === "long" ? 400 : 1),
  });
  const encode = async (
    host: SubprocessHost,
    format: EncodedFormat,
    {
      sampleRate,
      pcm,
      chunk = 4001,
      length = "short",
    }: {
      sampleRate: number;
      pcm: Buffer;
      chunk?: number;
      length?: "short" | "long";
    },
  ) => {
    const job = { format, sampleRate, input: wavOf(sampleRate, pcm, chunk) } as const;
    return Buffer.concat(await collect(host.encode(job, never, slotOptionsOf(length))));
  };

  it("need no process of ffmpeg in any format, not even one that is started ahead", async () => {
    const pcm = tone(22_050, 5000);
    for (const format of encodedFormats) await encode(library, format, { sampleRate: 22_050, pcm });
    const children = childrenOf(library.stats().pid ?? 0).map(({ command }) => command);
    expect(children).not.to.include("ffmpeg");
    expect(library.stats().encoderFallback).to.equal(undefined);
  });

  for (const sampleRate of rates) {
    it(`give the bytes of ffmpeg in all formats, for audio of any length: ${sampleRate} Hz`, async () => {
      const lengths = usualRates.includes(sampleRate) ? [575, 1153, 2 * sampleRate + 17] : [1153, sampleRate];
      for (const samples of lengths) {
        const pcm = tone(sampleRate, samples);
        const expected = await encodeByFfmpeg(encodedFormats, sampleRate, pcm);
        for (const format of encodedFormats) {
          const encoded = await encode(library, format, { sampleRate, pcm });
          const isSame = encoded.equals(expected.get(format) ?? Buffer.of());
          expect(isSame, `${format}, ${samples} samples`).to.equal(true);
        }
      }
    });
  }

  it("give the same bytes for 40 encodings at once, in chunks of any size", async () => {
    const names: readonly EncodedFormat[] = ["mp3", "ogg", "opus", "flac", "aac", "pcm", "ulaw_8000"];
    const audios = Array.from({ length: 40 }, (_, n) => {
      const sampleRate = rates[n % rates.length] ?? 0;
      return { sampleRate, pcm: tone(sampleRate, 1000 * (n + 1)), format: names[n % names.length] ?? "mp3" };
    });
    const alone: Buffer[] = [];
    for (const { format, ...audio } of audios)
      alone.push(await encode(library, format, { ...audio, chunk: audio.pcm.length }));
    const together = await Promise.all(
      audios.map(({ format, ...audio }, n) =>
        encode(library, format, { ...audio, chunk: 100 + 997 * n, length: n % 2 === 0 ? "long" : "short" }),
      ),
    );
    for (const [n, bytes] of together.entries()) expect(bytes.equals(alone[n] ?? Buffer.of())).to.equal(true);
  });

  it("deliver what is complete before more samples come", async () => {
    for (const format of ["mp3", "opus", "aac", "pcm", "ogg", "ulaw_8000"] as const) {
      const stalled = async function* () {
        yield wavHeader(22_050, 0xffff_ffff);
        yield tone(22_050, 3 * 22_050); // a page of ogg is a second
        await new Promise(() => {});
      };
      const stop = new AbortController();
      const job = { format, sampleRate: 22_050, input: stalled() } as const;
      const audio = library.encode(job, stop.signal, slotOptionsOf("short"))[Symbol.asyncIterator]();
      let size = 0;
      while (size < 5000) size += (await audio.next()).value?.length ?? 0;
      stop.abort(new Error("enough"));
      await rejection(audio.next());
    }
  });

  for (const length of ["short", "long"] as const)
    for (const format of ["mp3", "aac"] as const)
      it(`end at once when the signal is aborted, with its reason: ${format}, ${length} response`, async () => {
        const stop = new AbortController();
        const job = { format, sampleRate: 22_050, input: endless() } as const;
        const audio = library.encode(job, stop.signal, slotOptionsOf(length))[Symbol.asyncIterator]();
        await audio.next();
        const reason = new Error("the caller left");
        stop.abort(reason);
        const rest = async () => {
          while (!(await audio.next()).done);
        };
        expect(await rejection(rest())).to.equal(reason);
        await until("the slot is free again", () => library.stats().running === 0);
      });

  it("exceed neither the deadline nor the output limit", async () => {
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
      for (const format of ["mp3", "opus"] as const) {
        const job = { format, sampleRate: 22_050, input: source(), ...limit } as const;
        const failure = await rejection(collect(library.encode(job, never, slotOptionsOf(length))));
        expect(failure).to.be.instanceOf(ToolFailed).with.property("reason", reason);
      }
    }
    await until("the slots are free again", () => library.stats().running === 0);
  });

  it("encode long responses in threads of a lower priority", async () => {
    const pcm = tone(22_050, 5000);
    for (const length of ["short", "long"] as const)
      await encode(library, "mp3", { sampleRate: 22_050, pcm, length });
    const { pid = 0 } = library.stats();
    const threads = await Promise.all(
      (await readdir(`/proc/${pid}/task`)).map(async (id) => ({
        name: (await readFile(`/proc/${pid}/task/${id}/comm`, "utf8")).trim(),
        priority: getPriority(Number(id)),
      })),
    );
    const priorities = (name: string) =>
      new Set(threads.filter((thread) => thread.name === name).map(({ priority }) => priority));
    expect(priorities("encoder-short")).to.deep.equal(new Set([getPriority(pid)]));
    expect(priorities("encoder-long")).to.deep.equal(new Set([Math.min(getPriority(pid) + 5, 19)]));
  });

  it("use as many threads as there are cores, and no more", async () => {
    const pcm = tone(22_050, 22_050);
    const audio = { sampleRate: 22_050, pcm };
    await Promise.all(
      Array.from({ length: 3 * availableParallelism() }, () => encode(library, "aac", audio)),
    );
    const { pid = 0 } = library.stats();
    const names = await Promise.all(
      (await readdir(`/proc/${pid}/task`)).map((id) => readFile(`/proc/${pid}/task/${id}/comm`, "utf8")),
    );
    expect(names.filter((name) => name.trim() === "encoder-short")).to.have.lengthOf(availableParallelism());
  });

  it("fail alone when a library refuses their parameters", async () => {
    const threads = createEncodingThreads({ ffmpegVersion: "0.1", folder: "" }, { most: 1 });
    const failing = threads.open({ format: "aac", sampleRate: 22_050, lowPriority: false });
    const failure = await rejection(failing.encode(tone(22_050, 1000), true));
    expect(failure).to.be.instanceOf(ToolFailed).with.property("reason", "exit");
    failing.close();
    const next = threads.open({ format: "mp3", sampleRate: 22_050, lowPriority: false });
    expect(await next.encode(tone(22_050, 5000), true)).to.have.length.above(0);
    next.close();
  });

  it("take no more memory after hundreds of audios, whether complete or aborted", async () => {
    const threads = createEncodingThreads(
      { ffmpegVersion: library.versions.ffmpeg ?? "", folder: "" },
      { most: 1 },
    );
    const pcm = tone(22_050, 4000);
    const some = async (): Promise<void> => {
      for (let n = 0; n < 300; n++) {
        const format = encodedFormats[n % encodedFormats.length] ?? "mp3";
        const audio = threads.open({ format, sampleRate: 22_050, lowPriority: false });
        await audio.encode(pcm, n % 3 > 0);
        audio.close();
      }
    };
    await some();
    const before = process.memoryUsage().rss;
    for (let n = 0; n < 4; n++) await some();
    expect(process.memoryUsage().rss - before).to.be.below(48 * 1024 * 1024);
  });
});

describe("an encoding by a library that is aborted while its client does not read", () => {
  const pcm = tone(22_050, 88_200);
  const spec = { type: "encoder", format: "pcm", sampleRate: 22_050, lowPriority: false } as const;
  const limits = { deadlineMs: 60_000, maxOutputBytes: 2 ** 30 };

  it("sends nothing to its thread after it has been closed, and fails with the reason", async () => {
    const threads = createEncodingThreads({ ffmpegVersion: await ffmpegVersion(), folder: "" }, { most: 1 });
    let late = 0;
    for (let id = 0; id < 20; id++) {
      const encoding = threads.open(spec);
      let isClosed = false;
      let running = 0;
      let sent = 0;
      const observed: typeof encoding = {
        encode: async (samples, isLast) => {
          if (isClosed) late++;
          running++;
          return await encoding.encode(samples, isLast).finally(() => running--);
        },
        close: () => {
          isClosed = true;
          encoding.close();
        },
      };
      let failure: string | undefined;
      const job = new Job(
        id,
        "The encoder",
        encodeAsProcess(observed),
        { ...spec, ...limits },
        (response) => {
          if (response.type === "output") sent += response.bytes.length;
          if (response.type === "failed") failure = response.reason;
        },
      );
      job.input(Buffer.concat([wavHeader(22_050, 0xffff_ffff), pcm]));
      // The client takes nothing.
      await until("the window is full", () => sent >= windowBytes && running === 0);
      job.stop(new ToolFailed("abandoned", "The client left."));
      await job.finished;
      expect(failure).to.equal("abandoned");
      expect(isClosed).to.equal(true);
    }
    expect(late).to.equal(0);
  });

  it("refuses further samples", async () => {
    const threads = createEncodingThreads({ ffmpegVersion: await ffmpegVersion(), folder: "" }, { most: 1 });
    const encoding = threads.open(spec);
    await encoding.encode(pcm, false);
    encoding.close();
    const failure = await rejection(encoding.encode(pcm, false));
    expect(failure).to.be.instanceOf(ToolFailed).with.property("reason", "killed");
  });

  it("is not opened again by a part that comes after its end", () => {
    let opened = 0;
    let closed = 0;
    const open = (): Encoding => {
      opened++;
      return { encode: (bytes) => bytes, finish: () => Buffer.of(), close: () => void closed++ };
    };
    const audios = createThreadAudios(open);
    const part = (audio: number, options: { isFirst?: boolean; isLast?: boolean }) =>
      audios.encode({ ...spec, audio, pcm: new Uint8Array(2), isFirst: false, isLast: false, ...options });
    for (let audio = 0; audio < 10; audio++) {
      part(audio, { isFirst: true, isLast: audio % 2 === 0 });
      audios.close(audio);
      expect(() => part(audio, {})).to.throw("The audio has ended.");
      audios.close(audio);
    }
    expect(opened).to.equal(10);
    expect(closed).to.equal(10);
  });

  it("leaves other audios of the thread intact if its memory cannot be freed", () => {
    const close = () => {
      throw new Error("cannot be freed");
    };
    const audios = createThreadAudios(() => ({ encode: (bytes) => bytes, finish: () => Buffer.of(), close }));
    const part = { ...spec, pcm: new Uint8Array(2), isFirst: true, isLast: false };
    audios.encode({ ...part, audio: 1 });
    audios.encode({ ...part, audio: 2 });
    audios.close(1);
    expect(audios.encode({ ...part, audio: 2, isFirst: false, isLast: true })).to.have.lengthOf(2);
  });
});

describe("threads that encode", () => {
  const codecs = { ffmpegVersion: "", folder: "" };
  const spec = { format: "mp3", sampleRate: 22_050, lowPriority: false } as const;
  const pcm = tone(22_050, 100);
  const program = (onMessage: string): URL => {
    const source = `import { parentPort } from "node:worker_threads";
      parentPort.postMessage("loaded");
      parentPort.on("message", ({ audio, pcm }) => { if (pcm) { ${onMessage} } });`;
    return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  };
  const respond = "parentPort.postMessage({ audio, bytes: pcm })";

  it("get no further audio while they are stuck in a library", async () => {
    /** It never responds to the first audio, and to others with whether it is stuck. */
    const stuckAtFirst = program(
      `globalThis.isStuck ||= audio === 0;
      if (audio > 0) parentPort.postMessage({ audio, bytes: Uint8Array.of(isStuck) })`,
    );
    const threads = createEncodingThreads(codecs, { most: 2, program: stuckAtFirst });
    const stuck = threads.open(spec);
    const failure = rejection(stuck.encode(pcm, false));
    stuck.close();
    expect(await failure).to.be.instanceOf(ToolFailed);
    for (let n = 0; n < 3; n++) {
      const audio = threads.open(spec);
      expect(await audio.encode(pcm, true)).to.deep.equal(Buffer.of(0));
      audio.close();
    }
    expect(threads.useLibraries()).to.equal(true);
  });

  it("use libraries while they load them, and then only for an audio", async () => {
    const threads = createEncodingThreads({ ffmpegVersion: await ffmpegVersion(), folder: "" });
    expect(threads.useLibraries()).to.equal(false);
    threads.prepare(false);
    expect(threads.useLibraries()).to.equal(true);
    await until("the thread has loaded its libraries", () => !threads.useLibraries());
  });

  it("are reported 15 seconds after the end of an audio to which they have not responded", async () => {
    const time = createManualTime();
    let reports = 0;
    const onStuck = () => void reports++;
    const threads = createEncodingThreads(codecs, { most: 1, program: program(""), onStuck, time });
    const audio = threads.open(spec);
    const failure = rejection(audio.encode(pcm, false));
    time.advance(60_000); // its deadline is that of its job
    expect(reports).to.equal(0);
    audio.close();
    await failure;
    time.advance(14_999);
    expect(reports).to.equal(0);
    time.advance(1);
    expect(reports).to.equal(1);
  });

  it("are not reported if they respond to the last part of an audio that was closed", async () => {
    const time = createManualTime();
    const onStuck = () => expect.fail("the thread is not stuck");
    const threads = createEncodingThreads(codecs, { most: 1, program: program(respond), onStuck, time });
    const audio = threads.open(spec);
    const failure = rejection(audio.encode(pcm, false));
    audio.close();
    await failure;
    await until("the thread has responded", () => !threads.useLibraries());
    time.advance(60_000);
    expect(time.waiting()).to.equal(0);
  });

  it("fail their audio with the cause, as interrupted, if they end by themselves", async () => {
    const crash = program('throw new Error("out of luck")');
    const threads = createEncodingThreads(codecs, { most: 1, program: crash });
    const audio = threads.open(spec);
    for (const isLast of [false, true]) {
      const failure = await rejection(audio.encode(pcm, isLast));
      expect(failure).to.be.instanceOf(ToolFailed).with.property("interrupted", true);
      expect(failure).to.have.property("message", "The encoder's thread failed: out of luck");
    }
    audio.close();
  });

  it("are not used for a minute after three of them have ended by themselves", async () => {
    const time = createManualTime();
    const crash = program('throw new Error("out of luck")');
    const threads = createEncodingThreads(codecs, { most: 1, program: crash, time });
    for (let ended = 0; ended < 3; ended++) {
      expect(threads.areUsable()).to.equal(true);
      await rejection(threads.open(spec).encode(pcm, true));
    }
    time.advance(59_999);
    expect(threads.areUsable()).to.equal(false);
    time.advance(1);
    expect(threads.areUsable()).to.equal(true);
  });
});

describe("a helper that is killed while it encodes", () => {
  it("fails the encoding as interrupted, and is replaced for the next one", async () => {
    await using opened = new AsyncDisposableStack();
    const host = await openSubprocessHost({ speakers: 0 });
    opened.defer(host.close);
    const job = { format: "mp3", sampleRate: 22_050 } as const;
    const audio = host.encode({ ...job, input: endless() }, never)[Symbol.asyncIterator]();
    await audio.next();
    signal(host.stats().pid, "SIGKILL");
    const rest = async () => {
      while (!(await audio.next()).done);
    };
    expect(await rejection(rest()))
      .to.be.instanceOf(ToolFailed)
      .with.property("interrupted", true);
    const input = wavOf(22_050, tone(22_050, 5000), 4001);
    expect(await collect(host.encode({ ...job, input }, never))).to.have.length.above(0);
    expect(host.stats().restarts).to.equal(1);
    expect(host.stats().encoderFallback).to.equal(undefined);
  });
});

describe("an ffmpeg that differs from the libraries", () => {
  const tools = duringSuite(async () => {
    const placed = await placeFakeTools();
    return { ...placed, close: placed.remove };
  });
  const usualPath = "/usr/local/bin:/usr/bin:/bin";
  const openWith = async (script: string) => {
    await tools.place("ffmpeg", `${script}\nPATH=${usualPath}\nexport PATH\nexec ffmpeg "$@"`);
    return openSubprocessHost({ path: `${tools.directory}:${usualPath}`, encodersAhead: {}, speakers: 0 });
  };
  const threadsOf = async ({ stats }: SubprocessHost): Promise<string[]> => {
    const { pid = 0 } = stats();
    const tasks = await readdir(`/proc/${pid}/task`);
    const names = tasks.map((id) => readFile(`/proc/${pid}/task/${id}/comm`, "utf8"));
    return (await Promise.all(names)).map((name) => name.trim());
  };
  const isLoaded = async ({ stats }: SubprocessHost, name: string): Promise<boolean> =>
    (await readFile(`/proc/${stats().pid ?? 0}/maps`, "utf8")).includes(name);

  it("encodes alone what it does not know together with other formats", async () => {
    const host = await openWith('case " $* " in *" libopus "*) exit 8;; esac');
    const fallback =
      "ffmpeg encodes opus, which is slower: ffmpeg's libraries could not be compared with ffmpeg.";
    expect(host.stats().encoderFallback).to.equal(fallback);
    await host.close();
  });

  it("encodes the formats in which it gives other bytes", async () => {
    const host = await openWith(
      'for arg; do shift; [ "$arg" = 7 ] && arg=5; set -- "$@" "$arg"; done # -compression_level',
    );
    const fallback = "ffmpeg encodes mp3, which is slower: LAME's library gave other bytes than ffmpeg.";
    expect(host.stats().encoderFallback).to.equal(fallback);
    expect(await isLoaded(host, "libmp3lame")).to.equal(true); // by ffmpeg's libraries
    await host.close();
  });

  it("encodes all formats without a thread or a library if it fails in all", async () => {
    const host = await openWith('[ "$1" = -version ] || exit 1');
    expect(host.stats().encoderFallback).to.contain("could not be compared with ffmpeg");
    expect(await threadsOf(host)).not.to.include("encoder-short");
    expect(await isLoaded(host, "libavcodec")).to.equal(false);
    await host.close();
  });

  it("has libraries that are loaded when the helper is ready, before an upgrade can replace them", async () => {
    const host = await openWith("");
    expect(host.stats().encoderFallback).to.equal(undefined);
    for (const name of ["libmp3lame", "libavcodec", "libavformat", "libswresample"])
      expect(await isLoaded(host, name), name).to.equal(true);
    await host.close();
  });
});

describe("the comparison with ffmpeg", () => {
  it("finds nothing, and does not reject, if no process can be started", async () => {
    const { PATH } = process.env;
    process.env.PATH = "/nonexistent";
    try {
      expect(await encodeByFfmpeg(["mp3", "flac"], 22_050, tone(22_050, 1000))).to.have.property("size", 0);
    } finally {
      process.env.PATH = PATH;
    }
    for (const failure of ["EMFILE", "ENOMEM"]) {
      const script = `
        import { syncBuiltinESMExports } from "node:module";
        import childProcess from "node:child_process";
        import { EventEmitter } from "node:events";
        childProcess.spawn = () => {
          if (process.argv[1] === "ENOMEM") throw new Error("spawn ENOMEM");
          const child = new EventEmitter();
          setImmediate(() => child.emit("error", new Error("spawn EMFILE")));
          return child;
        };
        syncBuiltinESMExports();
        const { encodeByFfmpeg } = await import(process.argv[2]);
        console.log((await encodeByFfmpeg(["mp3"], 8000, Buffer.alloc(100))).size);`;
      const module = new URL("../../src/subprocess/host/encoders/like-ffmpeg.ts", import.meta.url).href;
      const args = ["--input-type=module", "--eval", script, failure, module];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      expect(stdout).to.equal("0\n");
    }
  });
});

describe("libraries of encoders that cannot be used", () => {
  const folder = duringSuite(temporaryFolder);

  /** Encodes with a host that has these libraries. */
  const encodeWith = async (codecFolder: string | undefined, format: EncodedFormat) => {
    const warnings: string[] = [];
    const warn = (sentence: string) => void warnings.push(sentence);
    await using opened = new AsyncDisposableStack();
    const host = await openSubprocessHost({
      encodersAhead: {},
      speakers: 0,
      warn,
      ...(codecFolder !== undefined && { codecFolder }),
    });
    opened.defer(host.close);
    const input = wavOf(22_050, tone(22_050, 5000), 4001);
    const bytes = Buffer.concat(await collect(host.encode({ format, sampleRate: 22_050, input }, never)));
    return { bytes, warnings, stats: host.stats() };
  };

  const libraryPath = (name: string): string => {
    koffi.load(name);
    const pattern = new RegExp(`\\S+${name.replaceAll(".", "\\.")}\\S*`);
    return pattern.exec(readFileSync("/proc/self/maps", "utf8"))?.[0] ?? "";
  };
  const lameName = "libmp3lame.so.0";
  const lists = {
    lame: "mp3",
    libav: "ogg, opus, flac, aac, pcm, mp3_22050_32, wav_8000, ulaw_8000, alaw_8000",
  };

  const empty = async () => "/nonexistent/";
  const lameIsOther = async () => {
    await symlink(libraryPath("libm.so.6"), join(folder.path, lameName));
    return `${folder.path}/`;
  };
  /** Its last pages are missing: the dynamic loader gets SIGBUS. */
  const lameIsDamaged = async () => {
    const damaged = join(folder.path, "damaged");
    await mkdir(damaged);
    const bytes = await readFile(libraryPath(lameName));
    await writeFile(join(damaged, lameName), bytes.subarray(0, bytes.length / 2));
    return `${damaged}/`;
  };

  for (const [what, prepare, failures] of [
    ["are missing", empty, ["cannot be used", "cannot be used"]],
    ["lack their functions", lameIsOther, ["cannot be used", "cannot be used"]],
    ["crash the process that loads them", lameIsDamaged, ["crashed (SIGBUS)", "crashed (SIGBUS)"]],
  ] as const) {
    it(`are replaced by ffmpeg, with the same bytes, and reported: they ${what}`, async () => {
      const codecFolder = await prepare();
      for (const format of ["mp3", "opus"] as const) {
        const [expected, { bytes, warnings, stats }] = await Promise.all([
          encodeWith(undefined, format),
          encodeWith(codecFolder, format),
        ]);
        expect(expected.warnings).to.deep.equal([]);
        expect(bytes.equals(expected.bytes)).to.equal(true);
        const sentence = [
          `ffmpeg encodes ${lists.lame}, which is slower: LAME's library ${failures[0]}.`,
          `ffmpeg encodes ${lists.libav}, which is slower: ffmpeg's libraries ${failures[1]}.`,
        ].join(" ");
        expect(warnings).to.deep.equal([sentence]);
        expect(stats.encoderFallback).to.equal(sentence);
        expect(stats.restarts).to.equal(0);
      }
    });
  }
});
