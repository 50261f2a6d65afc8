import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { pino } from "pino";
import { outputFormatNames } from "../../src/http/routes/elevenlabs/speech-request.ts";
import { registerWebsite } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { type ElevenLabsClient, elevenLabsClient } from "../support/elevenlabs-client.ts";
import { startInProcessService } from "../support/in-process-service.ts";
import type { AudioResult } from "../support/python-client.ts";
import { startService, temporaryFolder } from "../support/service.ts";
import { recordedEvents, recordedStreamEnd } from "../support/streams.ts";

const voice_id = "UK_English_Female";

interface Alignment {
  readonly characters: readonly string[];
  readonly character_start_times_seconds: readonly number[];
  readonly character_end_times_seconds: readonly number[];
}

interface TimedAudio {
  readonly audio_base64: string;
  readonly alignment: Alignment | null;
}

/** ElevenLabs' own client for Python, unmodified, with the service's base URL. */
describe("Speech for ElevenLabs' client", () => {
  const folder = duringSuite(temporaryFolder);
  const service = duringSuite(() => startService(folder.path, { BURST_LIMIT: "1000000" }));
  const website = duringSuite(() => registerWebsite(service.url));
  let client: ElevenLabsClient;
  let texts = 0;

  before(async () => {
    client = elevenLabsClient(service.url, website);
  });
  after(async () => {
    await client.close();
  });

  const freshText = (): string => `This is text number ${++texts}. It has two sentences.`;

  it("gets audio in every format, with exactly the codec, sample rate and bit rate that the format names", async () => {
    const calls = outputFormatNames.map((output_format) => ({
      method: "text_to_speech.convert",
      args: { voice_id, text: "The train to Oxford leaves at nine.", output_format },
    }));
    const sounds = await client.results<AudioResult>(calls);
    for (const [index, name] of outputFormatNames.entries()) {
      const [codec = "", rate = "", kilobits] = name.split("_");
      const bytes = Buffer.from(sounds[index]?.audio ?? "", "base64");
      const { seconds, ...probed } = await probe(folder.path, name, bytes);
      expect(probed, name).to.include({
        codec_name: codecNames[codec],
        sample_rate: rate,
        channels: 1,
        ...(codec === "mp3" && { bit_rate: `${kilobits}000` }),
      });
      // Raw samples do not say their rate: only at the right one they last as long as the others.
      expect(seconds, name).to.be.closeTo(2.27, 0.15);
    }
  });

  it("streams every voice: the first audio arrives before the last is made", async () => {
    const text = "This sentence is one of many in a long text. ".repeat(100);
    const args = { voice_id, text, output_format: "pcm_48000" };
    const [first] = await client.results<AudioResult>([{ method: "text_to_speech.stream", args, take: 4 }]);
    expect(first?.chunks).to.equal(4);
    // The client has left. Had the audio been complete, the stream would not have ended early.
    const servings = await recordedEvents(service.url, website, "SynthesisServed");
    const serving = servings.find(({ characters }) => characters === text.length);
    const end = await recordedStreamEnd(service.url, website, serving?.requestId);
    expect(end).to.include({ outcome: "left" });
  });

  it("gets the same bytes by stream and by convert", async () => {
    const args = { voice_id, text: freshText(), output_format: "mp3_44100_128" };
    const [streamed, whole] = await client.results<AudioResult>([
      { method: "text_to_speech.stream", args },
      { method: "text_to_speech.convert", args },
    ]);
    expect(streamed?.audio).to.equal(whole?.audio);
    expect(streamed?.audio).to.have.length.above(1000);
  });

  it("gets the time of each character, in one response or after the stream", async () => {
    const text = freshText();
    const args = { voice_id, text, output_format: "pcm_16000" };
    const [streamed, [whole]] = (await client
      .results<readonly TimedAudio[] | TimedAudio>([
        { method: "text_to_speech.stream_with_timestamps", args },
        { method: "text_to_speech.convert_with_timestamps", args },
      ])
      .then(([lines, one]) => [lines, [one]])) as [TimedAudio[], [TimedAudio]];
    const alignment = expectAlignment(whole, text, bytesIn([whole]).length / 32_000);
    expect(streamed.length).to.be.above(1);
    expect(streamed.slice(0, -1).every((line) => line.alignment === null)).to.equal(true);
    expect(streamed.at(-1)?.alignment).to.deep.equal(alignment);
    expect(bytesIn(streamed).equals(bytesIn([whole]))).to.equal(true);
  });

  it("gets audio without times for a voice that reports none", async () => {
    const args = { voice_id: "US_English_Female", text: freshText() };
    const timed = await client.call<TimedAudio>("text_to_speech.convert_with_timestamps", args);
    expect(timed.alignment).to.equal(null);
    expect(timed.audio_base64).to.have.length.above(1000);
  });

  it("speaks faster at a higher speed", async () => {
    const args = { voice_id, text: freshText(), output_format: "pcm_24000" };
    const [slow, fast] = await client.results<AudioResult>([
      { method: "text_to_speech.convert", args },
      { method: "text_to_speech.convert", args: { ...args, voice_settings: { speed: 1.2, stability: 0.5 } } },
    ]);
    expect(fast?.audio.length).to.be.below(0.9 * (slow?.audio.length ?? 0));
  });

  it("gets the charged characters and the id of the request in headers", async () => {
    const text = freshText();
    const ask = (key: string) =>
      fetch(`${service.url}/elevenlabs/v1/text-to-speech/${voice_id}`, {
        method: "POST",
        headers: {
          "xi-api-key": `${website.apiKey}.${website.apiSecret}`,
          "Content-Type": "application/json",
          "Idempotency-Key": key,
        },
        body: JSON.stringify({ text }),
      });
    const [first, repeat] = [await ask("a"), await ask("a")];
    expect(first.headers.get("character-cost")).to.equal(String(text.length));
    expect(first.headers.get("request-id")).to.equal(first.headers.get("x-request-id"));
    expect(first.headers.get("content-type")).to.equal("audio/mpeg");
    expect(repeat.headers.get("character-cost")).to.equal("0");
  });
});

describe("ElevenLabs' client, refused by the limit per minute", () => {
  it("waits for the seconds of Retry-After, repeats the request, and is charged once", async () => {
    const refused = Promise.withResolvers<void>();
    const log = pino(
      { level: "info" },
      { write: (line) => JSON.parse(line).status === 429 && refused.resolve() },
    );
    const service = await startInProcessService({}, log);
    const website = await registerWebsite(service.url, { requestsPerMinute: 1 });
    const client = elevenLabsClient(service.url, website);
    try {
      service.time.now = Date.parse("2026-11-05T10:00:58.000Z");
      const args = { voice_id, text: "Twice." };
      const method = "text_to_speech.convert_with_timestamps";
      const calls = [
        { method, args },
        { method, args },
      ];
      const calling = client.outcomes<TimedAudio>(calls);
      await refused.promise;
      service.time.now += 10_000;
      for (const outcome of await calling)
        expect(outcome).to.have.nested.property("result.alignment.characters");
      const servings = await recordedEvents(service.url, website, "SynthesisServed");
      expect(servings.map(({ characters }) => characters)).to.deep.equal([6, 6]);
    } finally {
      await client.close();
      await service.close();
    }
  });
});

const bytesIn = (lines: readonly TimedAudio[]): Buffer =>
  Buffer.concat(lines.map(({ audio_base64 }) => Buffer.from(audio_base64, "base64")));

const expectAlignment = ({ alignment }: TimedAudio, text: string, seconds: number): Alignment => {
  if (!alignment) throw new Error("There is no alignment.");
  const { character_start_times_seconds: starts, character_end_times_seconds: ends } = alignment;
  expect(alignment.characters.join("")).to.equal(text);
  expect([...starts, ...ends.slice(-1)]).to.deep.equal(
    [...starts, ...ends.slice(-1)].toSorted((a, b) => a - b),
  );
  expect(ends.at(-1)).to.be.closeTo(seconds, 0.001);
  return alignment;
};

/** ffprobe's names. */
const codecNames: Readonly<Record<string, string>> = {
  mp3: "mp3",
  opus: "opus",
  pcm: "pcm_s16le",
  wav: "pcm_s16le",
  ulaw: "pcm_mulaw",
  alaw: "pcm_alaw",
};

/** ffprobe's names of formats without a header. */
const rawFormats: Readonly<Record<string, string>> = { pcm: "s16le", ulaw: "mulaw", alaw: "alaw" };

const execute = promisify(execFile);

const probe = async (folder: string, name: string, bytes: Buffer) => {
  const [codec = "", rate = ""] = name.split("_");
  const file = join(folder, name);
  await writeFile(file, bytes);
  const raw = rawFormats[codec];
  const input = raw === undefined ? [] : ["-f", raw, "-ar", rate, "-ac", "1"];
  const shown = ["-show_entries", "stream=codec_name,sample_rate,channels,bit_rate:format=duration"];
  const { stdout } = await execute("ffprobe", ["-v", "error", ...input, ...shown, "-of", "json", file]);
  const { streams, format } = JSON.parse(stdout);
  return { ...streams[0], seconds: Number(format.duration) };
};
