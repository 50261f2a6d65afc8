import { expect } from "chai";
import { EngineFailed } from "../../../src/domain/errors.ts";
import { wavHeader } from "../../../src/domain/synthesis/wav-header.ts";
import { readWav } from "../../../src/engines/provider-http/read-wav.ts";
import { collect } from "../../support/collect.ts";
import { rejection } from "../../support/rejection.ts";
import { makeWav } from "../../support/wire/other-servers.ts";

/** Cuts bytes into chunks like a network stream, also in the middle of a sample. */
async function* cutInto(bytes: Buffer, size: number): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size));
}

describe("The samples of a WAV", () => {
  const samples = Buffer.from(Array.from({ length: 2000 }, (_, at) => at % 251));
  const chunk = (name: string, content: Buffer): Buffer => {
    const head = Buffer.alloc(8);
    head.write(name, "latin1");
    head.writeUInt32LE(content.length, 4);
    return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
  };
  const canonical = wavHeader(24_000, samples.length);
  const format = canonical.subarray(20, 36);
  const riff = (...chunks: Buffer[]): Buffer => Buffer.concat([canonical.subarray(0, 12), ...chunks]);
  const read = (wav: Buffer, cut = wav.length): Promise<Buffer> =>
    readWav(cutInto(wav, cut)).then(async ({ pcm }) => Buffer.concat(await collect(pcm)));

  for (const [rule, wav] of [
    ["follow its header", Buffer.concat([canonical, samples])],
    [
      "end where the header declares, before trailing chunks",
      riff(chunk("fmt ", format), chunk("data", samples), chunk("LIST", Buffer.alloc(30))),
    ],
    [
      "are found after other chunks, including chunks of odd length",
      riff(
        chunk("LIST", Buffer.alloc(31)),
        chunk("fmt ", format),
        chunk("fact", Buffer.alloc(4)),
        chunk("data", samples),
      ),
    ],
    [
      "extend to the end when the header declares an unknown length",
      Buffer.concat([wavHeader(24_000, 0xffff_ffff), samples]),
    ],
  ] as const) {
    it(rule, async () => {
      for (const cut of [1, 7, 43, 44, 45, 4096]) {
        expect((await read(wav, cut)).equals(samples), `cut into ${cut}`).to.equal(true);
      }
    });
  }

  for (const [rule, wav] of [
    ["are refused when the data is not a WAV", Buffer.from("<!doctype html><html>no</html>")],
    ["are refused when the header is truncated", canonical.subarray(0, 30)],
    [
      "are refused when fewer arrive than the header declares",
      Buffer.concat([canonical, samples.subarray(1)]),
    ],
    ["are refused at an impossible sample rate", Buffer.concat([wavHeader(1, samples.length), samples])],
    ["are refused without a channel", makeWav(samples, { sampleRate: 24_000, channels: 0 })],
    ["are refused when the header declares no format", riff(chunk("data", samples))],
    [
      "are refused when they do not start within a bounded distance",
      riff(chunk("JUNK", Buffer.alloc(70_000)), chunk("fmt ", format), chunk("data", samples)),
    ],
  ] as const) {
    it(rule, async () => {
      expect(await rejection(read(wav, 10))).to.be.instanceOf(EngineFailed);
    });
  }

  const speech = Buffer.from(Int16Array.from({ length: 900 }, (_, at) => 30_000 * Math.sin(at / 9)).buffer);
  for (const shape of [
    { bits: 8 },
    { bits: 24 },
    { bits: 32 },
    { bits: 32, isFloat: true },
    { bits: 16, channels: 2 },
    { bits: 24, channels: 6, isExtensible: true },
    { bits: 16, isExtensible: true, hasList: true },
    { bits: 16, size: 0 },
    { bits: 32, isFloat: true, channels: 2, size: 0xffff_ffff },
  ] as const) {
    it(`are converted to 16 bits in one channel: ${JSON.stringify(shape)}`, async () => {
      const wav = makeWav(speech, { sampleRate: 44_100, ...shape });
      for (const cut of [1, 7, 100_000]) {
        const { sampleRate, pcm } = await readWav(cutInto(wav, cut));
        const converted = Buffer.concat(await collect(pcm));
        expect([sampleRate, converted.length]).to.deep.equal([44_100, speech.length]);
        const most = shape.bits === 8 ? 256 : 1;
        for (let at = 0; at < speech.length; at += 2)
          expect(converted.readInt16LE(at)).to.be.closeTo(speech.readInt16LE(at), most);
      }
    });
  }

  it("are limited to 16 bits where floats exceed them or are no numbers", async () => {
    const floats = Buffer.from(Float32Array.of(1.5, -7, Number.NaN, Number.POSITIVE_INFINITY, 0.5).buffer);
    const wav = makeWav(Buffer.alloc(2 * 5), { sampleRate: 24_000, bits: 32, isFloat: true });
    floats.copy(wav, wav.length - floats.length);
    const { pcm } = await readWav(cutInto(wav, 9));
    const samples = Buffer.concat(await collect(pcm));
    expect(Array.from(new Int16Array(new Uint8Array(samples).buffer))).to.deep.equal([
      32_767, -32_768, 0, 32_767, 16_384,
    ]);
  });
});
