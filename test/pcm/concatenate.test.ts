import { spawnSync } from "node:child_process";
import { expect } from "chai";
import fc from "fast-check";
import { EngineFailed, Unavailable } from "../../src/domain/errors.ts";
import { wavHeader } from "../../src/domain/synthesis/wav-header.ts";
import { concatenate } from "../../src/pcm/concatenate.ts";
import { fade } from "../../src/pcm/fades.ts";
import { collect } from "../support/collect.ts";
import { sayLocally } from "../support/local-voice.ts";
import { rejection } from "../support/rejection.ts";

const never = new AbortController().signal;
const sampleRate = 22_050;
const jointSamples = Math.round(0.003 * sampleRate);

const words = ["The quick brown fox.", "Jumps over the lazy dog!", "And then it goes home?"];
const sayPiece = async (piece: string): Promise<Buffer> => {
  const { samples } = await sayLocally("espeak:gmw/en-US+f3", piece);
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
};

/** Cuts bytes into chunks like a network stream, also in the middle of a sample. */
async function* cutInto(bytes: Buffer, size: number): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size));
}

const whole = async (audio: AsyncIterable<Buffer>): Promise<Buffer> => Buffer.concat(await collect(audio));

describe("Audio concatenated from pieces", () => {
  let pieces: Map<string, Buffer>;
  let joined: Buffer;

  before(async () => {
    pieces = new Map(await Promise.all(words.map(async (piece) => [piece, await sayPiece(piece)] as const)));
    const { audio } = await concatenate(
      words,
      { sampleRate, synthesizePiece: async (piece) => cutInto(bytesOf(piece), 777) },
      never,
    );
    joined = await whole(audio);
  });
  const bytesOf = (piece: string): Buffer => pieces.get(piece) ?? Buffer.alloc(0);
  const starts = () =>
    words.map((_, index) => words.slice(0, index).reduce((sum, piece) => sum + bytesOf(piece).length, 0));

  it("is as long as the pieces together", () => {
    expect(joined.length).to.equal(words.reduce((sum, piece) => sum + bytesOf(piece).length, 0));
  });

  it("fails when a piece is shorter than it can be", async () => {
    const minSeconds = (piece: string) => (piece === words[1] ? 60 : 0);
    const { audio } = await concatenate(
      words,
      { sampleRate, synthesizePiece: async (piece) => cutInto(bytesOf(piece), 777), minSeconds },
      never,
    );
    expect(await rejection(collect(audio))).to.be.instanceOf(EngineFailed);
  });

  it("has each sample in its place, except for the fades at the joints", () => {
    for (const [index, piece] of words.entries()) {
      const said = joined.subarray(starts()[index] ?? 0).subarray(0, bytesOf(piece).length);
      const edge = 2 * jointSamples;
      const inside = (bytes: Buffer) =>
        bytes.subarray(index > 0 ? edge : 0, bytes.length - (index < 2 ? edge : 0));
      expect(inside(said).equals(inside(bytesOf(piece))), piece).to.equal(true);
    }
  });

  it("fades out and in at each joint, and nowhere else", async () => {
    const loud = Buffer.alloc(2 * 1_000, Buffer.from(Int16Array.of(20_000).buffer));
    const synthesizePiece = async () => cutInto(loud, 300);
    const { audio } = await concatenate(["one", "two", "three"], { sampleRate, synthesizePiece }, never);
    const sound = await whole(audio);
    const quiet = (sample: number) => Math.abs(sound.readInt16LE(2 * sample)) < 20_000 / jointSamples;
    const edges = [0, 999, 1_000, 1_999, 2_000, 2_999];
    expect(edges.filter(quiet)).to.deep.equal([999, 1_000, 1_999, 2_000]);
  });

  it("is decoded by ffmpeg without a warning, to the same number of samples", () => {
    const wav = Buffer.concat([wavHeader(sampleRate, joined.length), joined]);
    const { status, stdout, stderr } = spawnSync(
      "ffmpeg",
      ["-nostdin", "-hide_banner", "-loglevel", "error", "-xerror", "-i", "pipe:0", "-f", "s16le", "pipe:1"],
      { input: wav, maxBuffer: 64 << 20, timeout: 240_000, killSignal: "SIGKILL" },
    );
    expect({ status, stderr: stderr.toString() }).to.deep.equal({ status: 0, stderr: "" });
    expect(stdout.equals(joined)).to.equal(true);
  });

  it("requests the pieces in order, one ahead of the reader", async () => {
    const requested: string[] = [];
    const synthesizePiece = async (piece: string) => {
      requested.push(piece);
      return cutInto(Buffer.alloc(4000), 4000);
    };
    const { audio } = await concatenate(["a", "b", "c", "d"], { sampleRate, synthesizePiece }, never);
    expect(requested).to.deep.equal(["a"]);
    const reading = audio[Symbol.asyncIterator]();
    await reading.next();
    expect(requested).to.deep.equal(["a", "b"]);
    while (!(await reading.next()).done);
    expect(requested).to.deep.equal(["a", "b", "c", "d"]);
  });

  it("rejects when its first piece fails", async () => {
    const failure = new EngineFailed("no");
    const synthesizePiece = () => Promise.reject(failure);
    expect(await rejection(concatenate(["a", "b"], { sampleRate, synthesizePiece }, never))).to.equal(
      failure,
    );
  });

  it("throws midway when a later piece fails, after the audio of the pieces before it", async () => {
    const failure = new EngineFailed("no");
    const synthesizePiece = async (piece: string) => {
      if (piece === "b") throw failure;
      return cutInto(Buffer.alloc(9000, 1), 500);
    };
    const { audio } = await concatenate(["a", "b", "c"], { sampleRate, synthesizePiece }, never);
    let received = 0;
    const read = async () => {
      for await (const chunk of audio) received += chunk.length;
    };
    expect(await rejection(read())).to.equal(failure);
    expect(received).to.equal(9000);
  });

  it("requests a piece again in its turn when its prefetch was refused", async () => {
    const requested: string[] = [];
    const synthesizePiece = async (piece: string) => {
      requested.push(piece);
      if (piece === "b" && requested.length === 2) throw new Unavailable("no turn", 1);
      return cutInto(Buffer.alloc(9000, 1), 500);
    };
    const { audio } = await concatenate(["a", "b"], { sampleRate, synthesizePiece }, never);
    expect((await whole(audio)).length).to.equal(18_000);
    expect(requested).to.deep.equal(["a", "b", "b"]);
  });

  it("aborts the prefetched piece when the reader leaves", async () => {
    const signals = new Map<string, AbortSignal>();
    const synthesizePiece = async (piece: string, signal: AbortSignal) => {
      signals.set(piece, signal);
      return cutInto(Buffer.alloc(9000, 1), 500);
    };
    const { audio } = await concatenate(["a", "b"], { sampleRate, synthesizePiece }, never);
    for await (const _ of audio) break;
    expect(signals.get("b")?.aborted).to.equal(true);
  });

  it("passes its abort reason to its pieces", async () => {
    const reason = new Error("the caller left");
    const controller = new AbortController();
    const synthesizePiece = async (_: string, signal: AbortSignal) =>
      (async function* () {
        for (;;) {
          signal.throwIfAborted();
          yield Buffer.alloc(100);
        }
      })();
    const { audio } = await concatenate(["a", "b"], { sampleRate, synthesizePiece }, controller.signal);
    const read = async () => {
      for await (const _ of audio) controller.abort(reason);
    };
    expect(await rejection(read())).to.equal(reason);
  });
});

describe("A fade", () => {
  const loud = (samples: number): Buffer => {
    const bytes = Buffer.alloc(2 * samples);
    for (let at = 0; at < samples; at++) bytes.writeInt16LE(20_000, 2 * at);
    return bytes;
  };
  const ease = (bytes: Buffer, cut: number, fadeIn: boolean, fadeOut: boolean): Promise<Buffer> =>
    whole(fade(cutInto(bytes, cut), { fadeIn, fadeOut, samples: 60 }));

  it("rises from silence and falls to silence linearly", async () => {
    const bytes = await ease(loud(500), 64, true, true);
    const samples = Array.from({ length: 500 }, (_, at) => bytes.readInt16LE(2 * at));
    const steps = [0, ...samples, 0].map((sample, at, all) => Math.abs(sample - (all[at - 1] ?? 0)));
    expect(Math.max(...steps)).to.be.at.most(Math.ceil(20_000 / 60));
    expect(samples.slice(60, 440).every((sample) => sample === 20_000)).to.equal(true);
  });

  it("gives the same result however the bytes are chunked, and shifts no sample", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 400 }),
        fc.integer({ min: 1, max: 300 }),
        fc.boolean(),
        fc.boolean(),
        async (samples, cut, before, after) => {
          const bytes = loud(samples);
          const once = await ease(bytes, bytes.length + 1, before, after);
          expect((await ease(bytes, cut, before, after)).equals(once)).to.equal(true);
          expect(once.length).to.equal(bytes.length);
          if (!before && !after) expect(once.equals(bytes)).to.equal(true);
        },
      ),
    );
  });

  it("drops half a sample at the end of a piece", async () => {
    expect((await ease(Buffer.concat([loud(100), Buffer.of(1)]), 33, false, true)).length).to.equal(200);
  });
});
