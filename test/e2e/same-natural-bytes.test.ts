import { hash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { pino } from "pino";
import { pipelineLimits } from "../../src/audio/pipeline/pipeline-limits.ts";
import { naturalVoicesFolder, openNaturalVoices } from "../../src/engines/natural-voices/natural-voices.ts";
import { authorize, bytesOf, type Credentials, fetchWhenFree, registerWebsite } from "../support/client.ts";
import { type InProcessService, startInProcessService } from "../support/in-process-service.ts";
import { pollTimeoutMs } from "../support/processes.ts";
import { isSample } from "../support/sample.ts";
import { temporaryFolder } from "../support/service.ts";
import { pick, randomOf } from "../support/speech-fuzz.ts";

interface Sent {
  readonly path: string;
  readonly body?: object;
}

const seed = Number(process.env.TEST_SEED ?? 36);
const random = randomOf(seed);
const voices = ["US English Female", "UK English Female", "German Female", "French Female", "Italian Female"];
const texts = ["Dr. Li paid $5.50.", "“Yes”, at 3:45.", "It is 5 kg — again 🙂.", "Now we go."];

const requests: readonly Sent[] = Array.from({ length: isSample ? 10 : 40 }, (_, at) => {
  const voice = pick(random, voices);
  const text = `${pick(random, texts)} ${at % 10}`;
  const [rate, pitch] = [pick(random, [0.5, 1, 1.7]), pick(random, [0.5, 1, 1.5])];
  const volume = pick(random, [0.4, 1]);
  const marks = random(3) === 0 ? "&marks=phoneme" : "";
  const query = new URLSearchParams({ voice, text, rate: `${rate}`, pitch: `${pitch}`, volume: `${volume}` });
  const openAi = { model: "tts-1", voice, input: text, speed: rate };
  const formats = ["wav", "flac", "pcm", "mp3", "opus", "aac"];
  const format = pick(random, ["mp3_44100_64", "pcm_24000", "ulaw_8000", "wav_22050"]);
  const stamps = pick(random, ["", "/with-timestamps"]);
  const id = encodeURIComponent(voice);
  return pick<Sent>(random, [
    { path: `/v2/text/synthesize?${query}${marks}` },
    { path: "/v2/text/synthesize", body: { voice, text, rate, pitch, volume } },
    { path: "/openai/v1/audio/speech", body: { ...openAi, response_format: pick(random, formats) } },
    { path: `/elevenlabs/v1/text-to-speech/${id}${stamps}?output_format=${format}`, body: { text } },
  ]);
});

describe(`The same request for a natural voice (seed ${seed})`, () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: InProcessService;
  let website: Credentials;
  /** The syntheses that failed. */
  let failures = 0;
  const write = (line: string): void => {
    if (JSON.parse(line).msg === "A synthesis failed.") failures++;
  };
  const log = pino({ level: "warn" }, { write });
  const start = () =>
    startInProcessService({ VOICES: "natural", DATA_DIR: folder.path, BURST_LIMIT: "1000000" }, log);
  before(async function () {
    const { installed } = await openNaturalVoices(naturalVoicesFolder(undefined));
    // `scripts/natural-voices` installs them.
    if (!installed.has("hibari:heart") || !installed.has("pico:en-GB")) return this.skip();
    folder = await temporaryFolder();
    service = await start();
    website = await registerWebsite(service.url);
  });
  after(async () => {
    await service?.close();
    await folder?.remove();
  });

  const askOnce = async ({ path, body }: Sent): Promise<Buffer> => {
    const headers = {
      ...authorize(website),
      Authorization: `Bearer ${website.apiKey}.${website.apiSecret}`,
      "Content-Type": "application/json",
    };
    const sent = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
    const response = await fetchWhenFree(service.url + path, sent);
    expect(response.status, path).to.equal(200);
    return bytesOf(response);
  };
  /**
   * Asks again if a fallback spoke, because the voice did not start within its deadline on a busy
   * machine. The service tries the voice again once it has forgotten the failure.
   */
  const ask = async (sent: Sent): Promise<Buffer> => {
    for (const end = Date.now() + pollTimeoutMs; ; await delay(pipelineLimits.failureMs)) {
      const before = failures;
      const bytes = await askOnce(sent);
      if (failures === before) return bytes;
      if (Date.now() > end) throw new Error(`a voice fails at each request: ${sent.path}`);
    }
  };
  const askAll = async (): Promise<string[]> => {
    const digests: string[] = [];
    for (const sent of requests) {
      const bytes = await ask(sent);
      const kind = bytes.toString("latin1", 0, 4);
      if (kind === "RIFF") expect(bytes.readUInt32LE(4), sent.path).to.equal(bytes.length - 8);
      if (kind === "fLaC") expect(bytes.readUIntBE(21, 5) % 2 ** 36, sent.path).to.be.above(0);
      digests.push(hash("sha256", bytes));
    }
    return digests;
  };

  it("gives the same bytes, with final headers, at first, again and after a restart", async () => {
    const first = await askAll();
    expect(await askAll()).to.deep.equal(first);
    await service.close();
    service = await start();
    expect(await askAll()).to.deep.equal(first);
  });
});
