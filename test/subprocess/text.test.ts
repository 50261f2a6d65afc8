import { Readable } from "node:stream";
import { expect } from "chai";
import { createClaim } from "../../src/async/scheduler/claim.ts";
import { type AudioFormat, isEncoded } from "../../src/domain/synthesis/formats.ts";
import type { PieceJob, PieceOrder, SpeechOrder } from "../../src/subprocess/speech/order.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { ToolFailed } from "../../src/subprocess/tools.ts";
import { collect } from "../support/collect.ts";
import { placeFakeTools } from "../support/fake-tools.ts";
import { until } from "../support/processes.ts";
import { rejection } from "../support/rejection.ts";
import { openToolHost } from "../support/tool-host.ts";

const never = new AbortController().signal;
const wavHeaderBytes = 44;

const spoken = (input: string): PieceJob => ({
  ...{ type: "espeak", voice: "gmw/en", ssml: false, rate: 175, pitch: 50, volume: 100, input },
});
const pieceOf = (input: string): PieceOrder => ({
  job: spoken(input),
  shape: { gains: [0.5], trailing: 0.1, silence: 50, pauseMs: { before: 0, after: 100 } },
  seconds: 1,
});
const orderOf = (inputs: readonly string[], format?: AudioFormat): SpeechOrder => ({
  pieces: inputs.map(pieceOf),
  ...{ format, progressive: false },
  divide: (_, crash) => Promise.reject(crash),
});
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
  const say = async (host: SubprocessHost, order: SpeechOrder): Promise<Buffer> =>
    Buffer.concat(await collect(host.synthesize(order, never)));

  for (const format of ["mp3", "ogg"] as const) {
    it(`has the bytes of its samples when they are encoded alone: ${format}`, async () => {
      const host = await open();
      const wav = await say(host, orderOf(sentences));
      const input = Readable.from([wav]);
      if (!isEncoded(format)) throw new Error("not encoded");
      const job = { format, sampleRate: wav.readUInt32LE(24), input };
      const alone = Buffer.concat(await collect(host.encode(job, never)));
      expect((await say(host, orderOf(sentences, format))).equals(alone)).to.equal(true);
      expect((await say(host, orderOf(sentences, "wav"))).equals(wav)).to.equal(true);
    });
  }

  it("reports how many samples each piece has, and when its words begin", async () => {
    const host = await open();
    const audio = host.synthesize(orderOf(sentences), never);
    let bytes = 0;
    let part = await audio.next();
    for (; !part.done; part = await audio.next()) bytes += part.value.length;
    const { samples, pieces } = part.value;
    expect(samples).to.equal((bytes - wavHeaderBytes) / 2);
    expect(pieces.reduce((sum, piece) => sum + (piece?.length ?? 0), 0)).to.equal(samples);
    const words = pieces.map((piece) => piece?.events?.filter(({ kind }) => kind === "word").length);
    expect(words).to.deep.equal([3, 4, 3, 1, 1]);
  });

  it("lets the texts of other keys speak between its pieces", async () => {
    const host = await open({ concurrency: 1 });
    const ended: string[] = [];
    const long = orderOf(Array.from({ length: 12 }, () => wordsOf(8)));
    const speak = async (key: string, order: SpeechOrder): Promise<void> => {
      await collect(host.synthesize(order, never, { claim: createClaim(key, order.pieces.length * 10) }));
      ended.push(key);
    };
    const first = speak("long", long);
    await until("it speaks", () => host.stats().running > 0);
    await Promise.all([first, speak("short", orderOf(["Hello."]))]);
    expect(ended).to.deep.equal(["short", "long"]);
    expect(host.stats()).to.include({ running: 0, queued: 0 });
  });

  it("frees all its slots and processes when it is aborted midway", async () => {
    const host = await open();
    for (const format of [undefined, "mp3", "ogg"] as const) {
      const stop = new AbortController();
      const order = orderOf(
        Array.from({ length: 40 }, () => wordsOf(8)),
        format,
      );
      const audio = host.synthesize(order, stop.signal, { claim: createClaim("key", 400) });
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
    const { pieces, ...order } = orderOf(sentences);
    const start = (): never => {
      throw refusal;
    };
    for (const refused of [0, 2]) {
      const some = pieces.map((piece, at) => (at === refused ? { ...piece, start } : piece));
      expect(await rejection(say(host, { ...order, pieces: some }))).to.equal(refusal);
    }
    expect(host.stats().running).to.equal(0);
  });

  describe("whose tool crashes", () => {
    it("is spoken in the parts that the service names", async () => {
      const tools = await placeFakeTools();
      try {
        await tools.place(
          "espeak-ng",
          'case "$1" in --version) exec /usr/bin/espeak-ng "$@";; esac\n' +
            'text=$(cat)\ncase "$text" in *BAD*BAD*) exit 3;; esac\n' +
            'printf %s "$text" | /usr/bin/espeak-ng "$@"',
        );
        const path = `${tools.directory}:/usr/bin:/bin`;
        const host = await open({ path, speakers: 0 });
        const divided: (readonly [piece: number, message: string])[] = [];
        const order = orderOf(["One.", "BAD BAD.", "Two."]);
        const audio = await say(host, {
          ...order,
          divide: async (piece, { message }) => {
            divided.push([piece, message]);
            return ["BAD", "BAD."].map(pieceOf);
          },
        });
        expect(divided).to.deep.equal([[1, "espeak-ng failed."]]);
        const parts = await say(host, orderOf(["One.", "BAD", "BAD.", "Two."]));
        expect(Math.abs(parts.length - audio.length)).to.be.below(2000);
        const failed = await rejection(say(host, order));
        expect(failed).to.be.instanceOf(ToolFailed).and.include({ reason: "exit" });
      } finally {
        await tools.remove();
      }
    });
  });
});
