import { Readable } from "node:stream";
import { expect } from "chai";
import { createWaiter } from "../../src/async/scheduler/waiter.ts";
import { type AudioFormat, isEncoded } from "../../src/domain/synthesis/formats.ts";
import { unknownSize, wavHeader } from "../../src/domain/synthesis/wav-header.ts";
import type { PieceJob, PieceUse, SpeechJob, SpeechPiece } from "../../src/subprocess/speech/speech-job.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { ToolFailed } from "../../src/subprocess/tools.ts";
import { collect } from "../support/collect.ts";
import { placeFakeTools } from "../support/fake-tools.ts";
import { gone, until } from "../support/processes.ts";
import { rejection } from "../support/rejection.ts";
import { openToolHost } from "../support/tool-host.ts";

const never = new AbortController().signal;
const wavHeaderBytes = 44;

const spoken = (input: string): PieceJob => ({
  ...{ type: "espeak", voice: "gmw/en", ssml: false, rate: 175, pitch: 50, volume: 100, input },
});
const pieceOf = (input: string): SpeechPiece => ({
  job: spoken(input),
  shape: { gains: [0.5], trailing: 0.1, silence: 50, pauseMs: { before: 0, after: 100 } },
  seconds: 1,
});
const jobOf = (inputs: readonly string[], format?: AudioFormat): SpeechJob => ({
  pieces: inputs.map(pieceOf),
  ...{ format, progressive: false },
  divide: (_, crash) => Promise.reject(crash),
});
/** For printf. */
const escaped = (bytes: Buffer): string =>
  [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
const sentences = ["One two three.", "Four five six seven.", "Eight nine ten.", "Eleven.", "Twelve."];
const wordsOf = (count: number): string => "one two three four ".repeat(count);

describe("A text in the helper", () => {
  const hosts: SubprocessHost[] = [];
  const open = async (...options: Parameters<typeof openToolHost>): Promise<SubprocessHost> => {
    const host = await openToolHost(...options);
    hosts.push(host);
    return host;
  };
  afterEach(() => Promise.all(hosts.splice(0).map((host) => host.close())));
  const withFakeSpeaker = async (
    script: string,
    run: (host: SubprocessHost) => Promise<void>,
  ): Promise<void> => {
    const tools = await placeFakeTools();
    try {
      await tools.place(
        "espeak-ng",
        `case "$1" in --version) exec /usr/bin/espeak-ng "$@";; esac\n${script}`,
      );
      await run(await open({ path: `${tools.directory}:/usr/bin:/bin`, speakers: 0 }));
    } finally {
      await tools.remove();
    }
  };
  const say = async (host: SubprocessHost, job: SpeechJob): Promise<Buffer> =>
    Buffer.concat(await collect(host.synthesize(job, never)));

  for (const format of ["mp3", "ogg"] as const) {
    it(`has the bytes of its samples when they are encoded alone: ${format}`, async () => {
      const host = await open();
      const wav = await say(host, jobOf(sentences));
      const input = Readable.from([wav]);
      if (!isEncoded(format)) throw new Error("not encoded");
      const job = { format, sampleRate: wav.readUInt32LE(24), input };
      const alone = Buffer.concat(await collect(host.encode(job, never)));
      expect((await say(host, jobOf(sentences, format))).equals(alone)).to.equal(true);
      expect((await say(host, jobOf(sentences, "wav"))).equals(wav)).to.equal(true);
    });
  }

  it("reports how many samples each piece has, and when its words begin", async () => {
    const host = await open();
    const audio = host.synthesize(jobOf(sentences), never);
    let bytes = 0;
    let part = await audio.next();
    for (; !part.done; part = await audio.next()) bytes += part.value.length;
    const { samples, pieces } = part.value;
    expect(samples).to.equal((bytes - wavHeaderBytes) / 2);
    expect(pieces.reduce((sum, piece) => sum + (piece?.length ?? 0), 0)).to.equal(samples);
    const words = pieces.map((piece) => piece?.events?.filter(({ kind }) => kind === "word").length);
    expect(words).to.deep.equal([3, 4, 3, 1, 1]);
  });

  it("says when its first samples are there, if they are encoded", async () => {
    const host = await open();
    const rates: number[] = [];
    const onEncoding = (sampleRate: number): void => void rates.push(sampleRate);
    for (const format of ["mp3", "wav", undefined] as const)
      await collect(host.synthesize(jobOf(["One."], format), never, { onEncoding }));
    expect(rates).to.deep.equal([22_050, 22_050]);
  });

  it("lets the texts of other keys speak between its pieces", async () => {
    const host = await open({ concurrency: 1 });
    const ended: string[] = [];
    const long = jobOf(Array.from({ length: 12 }, () => wordsOf(8)));
    const speak = async (key: string, job: SpeechJob): Promise<void> => {
      await collect(host.synthesize(job, never, { waiter: createWaiter(key, job.pieces.length * 10) }));
      ended.push(key);
    };
    const first = speak("long", long);
    await until("it speaks", () => host.stats().running > 0);
    await Promise.all([first, speak("short", jobOf(["Hello."]))]);
    expect(ended).to.deep.equal(["short", "long"]);
    expect(host.stats()).to.include({ running: 0, queued: 0 });
  });

  it("frees all its slots and processes when it is aborted midway", async () => {
    const host = await open();
    for (const format of [undefined, "mp3", "ogg"] as const) {
      const stop = new AbortController();
      const job = jobOf(
        Array.from({ length: 40 }, () => wordsOf(8)),
        format,
      );
      const audio = host.synthesize(job, stop.signal, { waiter: createWaiter("key", 400) });
      await audio.next();
      const reason = new Error("the caller left");
      stop.abort(reason);
      expect(await rejection(collect(audio))).to.equal(reason);
      await until("its slots are free", () => host.stats().running === 0 && host.stats().queued === 0);
    }
  });

  it("starts no piece that the service refuses, and fails with the refusal", async () => {
    const host = await open();
    const refusal = new Error("the model is not used now");
    const { pieces, ...job } = jobOf(sentences);
    const start = (): never => {
      throw refusal;
    };
    for (const refused of [0, 2]) {
      const some = pieces.map((piece, at) => (at === refused ? { ...piece, start } : piece));
      expect(await rejection(say(host, { ...job, pieces: some }))).to.equal(refusal);
    }
    expect(host.stats().running).to.equal(0);
  });

  it("holds few pieces and no slot of a tool while its client does not read", async () => {
    const host = await open({ concurrency: 1 });
    let begun = 0;
    const start = (): PieceUse => {
      begun++;
      return { succeeded: () => undefined, failed: () => undefined, ignored: () => undefined };
    };
    const { pieces, ...job } = jobOf(
      Array.from({ length: 40 }, () => wordsOf(8)),
      "mp3",
    );
    const stop = new AbortController();
    const slow = { ...job, progressive: true, pieces: pieces.map((piece) => ({ ...piece, start })) };
    const audio = host.synthesize(slow, stop.signal, { waiter: createWaiter("slow", 15) });
    await audio.next();
    const encoders = 1;
    await until("its tools have ended", () => begun > 1 && host.stats().running === encoders);
    for (let text = 0; text < 3; text++) await say(host, jobOf(sentences, "mp3"));
    expect(begun).to.be.below(pieces.length);
    expect(host.stats()).to.include({ running: encoders, queued: 0 });
    stop.abort(new Error("the caller left"));
    await rejection(collect(audio));
    await until("its slots are free", () => host.stats().running === 0);
  });

  it("may have more samples than the audio of a single tool", async () => {
    const half = 33 * 1024 * 1024;
    await withFakeSpeaker(
      `cat >/dev/null; printf '${escaped(wavHeader(22_050, unknownSize))}'; head -c ${half} /dev/zero | tr '\\0' '\\1'`,
      async (host) => {
        const { pieces, ...job } = jobOf(["One.", "Two."]);
        const shape = { gains: [], silence: 0, pauseMs: { before: 0, after: 0 } };
        const loud = pieces.map((piece) => ({ ...piece, shape }));
        let size = 0;
        for await (const { length } of host.synthesize({ ...job, pieces: loud }, never)) size += length;
        expect(size).to.equal(2 * half + wavHeaderBytes);
      },
    );
  });

  describe("whose helper", () => {
    const interrupted = async (
      host: SubprocessHost,
      audio: AsyncGenerator<Buffer, unknown>,
      signal: "SIGKILL" | "SIGSTOP",
    ): Promise<void> => {
      const { pid } = host.stats();
      if (pid === undefined) throw new Error("There is no helper.");
      process.kill(pid, signal);
      expect(await rejection(collect(audio))).to.include({ reason: "helper" });
      await gone(pid);
      await until("its slots are free", () => host.stats().running === 0 && host.stats().queued === 0);
      expect((await say(host, jobOf(["One."]))).length).to.be.above(wavHeaderBytes);
    };
    const long = jobOf(
      Array.from({ length: 9 }, () => wordsOf(80)),
      "mp3",
    );

    it("is killed while it is spoken and encoded fails, and frees its slots", async () => {
      const host = await open();
      const audio = host.synthesize(long, never);
      await audio.next();
      await interrupted(host, audio, "SIGKILL");
    });

    it("is killed while it waits for the slot of a piece fails, and frees its slots", async () => {
      const host = await open({ concurrency: 1 });
      const audio = host.synthesize({ ...long, format: "wav" }, never);
      await audio.next();
      const stop = new AbortController();
      const others = ["a", "b"].map((key) =>
        rejection(collect(host.synthesize(long, stop.signal, { waiter: createWaiter(key) }))),
      );
      await until("pieces wait", () => host.stats().queued > 0);
      const failed = interrupted(host, audio, "SIGKILL");
      stop.abort(new Error("the other callers left"));
      await failed;
      await Promise.all(others);
    });

    it("is frozen while a piece is spoken fails after the piece's deadline, and frees its slots", async () => {
      const host = await open({ graceMs: 100 });
      const [first, ...rest] = long.pieces as [SpeechPiece, ...SpeechPiece[]];
      const limited = rest.map((piece) => ({ ...piece, job: { ...piece.job, deadlineMs: 2_000 } }));
      const pieces = [first, ...limited];
      const audio = host.synthesize({ ...long, pieces, format: "wav" }, never);
      await audio.next();
      await interrupted(host, audio, "SIGSTOP");
    });
  });

  describe("whose tool crashes", () => {
    it("is spoken in the parts that the service names", async () => {
      await withFakeSpeaker(
        'text=$(cat)\ncase "$text" in *BAD*BAD*) exit 3;; esac\n' +
          'printf %s "$text" | /usr/bin/espeak-ng "$@"',
        async (host) => {
          const divided: (readonly [piece: number, message: string])[] = [];
          const job = jobOf(["One.", "BAD BAD.", "Two."]);
          const audio = await say(host, {
            ...job,
            divide: async (piece, { message }) => {
              divided.push([piece, message]);
              return ["BAD", "BAD."].map(pieceOf);
            },
          });
          expect(divided).to.deep.equal([[1, "espeak-ng failed."]]);
          const parts = await say(host, jobOf(["One.", "BAD", "BAD.", "Two."]));
          expect(Math.abs(parts.length - audio.length)).to.be.below(2000);
          const failed = await rejection(say(host, job));
          expect(failed).to.be.instanceOf(ToolFailed).and.include({ reason: "exit" });
        },
      );
    });
  });
});
