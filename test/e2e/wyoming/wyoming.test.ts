import { expect } from "chai";
import { countCharacters } from "../../../src/domain/synthesis/count-characters.ts";
import { admin, authorize, bytesOf, type Credentials } from "../../support/client.ts";
import { createWebsite } from "../../support/command-line.ts";
import { duringSuite } from "../../support/during.ts";
import { openPython } from "../../support/python.ts";
import { adminToken, type RunningService, startService, temporaryFolder } from "../../support/service.ts";
import { openRawClient, type RawClient } from "../../wyoming/raw-client.ts";

interface Spoken {
  readonly types: readonly string[];
  readonly audio: string;
  readonly formats: readonly (readonly number[])[];
  readonly error: { readonly text: string; readonly code: string | null } | null;
}

const urlOf = ({ log }: RunningService): string =>
  JSON.parse(log.find((line) => line.includes('"msg":"wyoming"')) ?? "").url;

const samplesOf = ({ audio }: Spoken): number => Buffer.from(audio, "base64").length / 2;

/** The `wyoming` package, unmodified, against the service as a process with real speech tools. */
describe("speech over the Wyoming protocol", () => {
  const folder = duringSuite(temporaryFolder);
  let service: RunningService;
  let website: Credentials;
  let url: string;
  const python = openPython(`${import.meta.dirname}/client.py`);

  before(async () => {
    website = await createWebsite(folder.path);
    service = await startService(folder.path, {
      WYOMING_PORT: "0",
      WYOMING_KEY: `${website.apiKey}.${website.apiSecret}`,
      MAX_TEXT_CHARACTERS: "1000",
    });
    url = urlOf(service);
  });
  after(async () => {
    await python.close();
    await service.stop();
  });

  const call = <Result = Spoken>(name: string, given: object): Promise<Result> =>
    python.ask({ url, call: name, ...given });

  /** The servings that were recorded since the last call. */
  let seen = 0;
  const newServings = async (): Promise<Record<string, unknown>[]> => {
    const response = await fetch(`${service.url}/admin/audit?apiKey=${website.apiKey}`, {
      headers: { Authorization: `Bearer ${adminToken}` },
    });
    const lines = (await response.text()).trim().split("\n");
    const servings = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === "SynthesisServed");
    const added = servings.slice(seen).map(({ data }) => data);
    seen = servings.length;
    return added;
  };
  beforeEach(newServings);

  const usedCharacters = async (): Promise<number> => {
    const response = await fetch(`${service.url}/v2/usage`, { headers: authorize(website) });
    return ((await response.json()) as { used: number }).used;
  };

  it("describes the voices that the service speaks, with their languages", async () => {
    interface Described {
      readonly installed: boolean;
      readonly streaming: boolean;
      readonly voices: Readonly<Record<string, readonly string[]>>;
    }
    const { voices, ...program } = await call<Described>("describe", {});
    expect(program).to.deep.equal({ installed: true, streaming: true });
    expect(voices).to.deep.include({ "UK English Female": ["en-GB"], "Deutsch Male": ["de-DE"] });
  });

  it("responds to a ping", async () => {
    expect(await call("ping", { text: "still there?" })).to.deep.equal({ text: "still there?" });
  });

  it("speaks a text in a voice, charged once and to the character", async () => {
    const text = "The kettle is on. It is 21 °C in the kitchen. 🙂";
    const spoken = await call("synthesize", { text, voice: { name: "UK English Female" } });
    expect(spoken.types).to.deep.equal(["audio-start", "audio-chunk", "audio-stop"]);
    expect(spoken.formats).to.deep.equal([[24_000, 2, 1]]);
    const [serving, ...others] = await newServings();
    expect(others).to.deep.equal([]);
    expect(serving).to.include({
      ...{ voice: "UK English Female", format: "pcm", stream: "wyoming" },
      characters: countCharacters(text),
    });
  });

  it("has the samples of the same text as PCM over HTTP, and the duration of its WAV", async () => {
    const text = "The train to Oxford leaves at nine. Platform four.";
    const voice = "UK English Female";
    const spoken = await call("synthesize", { text, voice: { name: voice } });
    const speech = async (format: string): Promise<Buffer> => {
      const response = await fetch(`${service.url}/openai/v1/audio/speech`, {
        method: "POST",
        headers: { ...authorize(website), "Content-Type": "application/json" },
        body: JSON.stringify({ model: "tts-1", voice, input: text, response_format: format }),
      });
      return await bytesOf(response);
    };
    expect(Buffer.from(spoken.audio, "base64").equals(await speech("pcm"))).to.equal(true);
    const wav = await speech("wav");
    const rate = wav.readUInt32LE(24);
    const seconds = (wav.length - 44) / 2 / rate;
    expect(Math.abs(samplesOf(spoken) / 24_000 - seconds)).to.be.below(1 / rate);
  });

  it("speaks a stream sentence by sentence, and charges its text once", async () => {
    const sentences = ["The light is on. ", "The heating in the hall is off. ", "Anything else?"];
    const text = sentences.join("");
    const chunks = text.match(/.{1,7}/gs);
    const before = await usedCharacters();
    const spoken = await call("stream", { chunks, voice: { name: "US English Female" } });
    expect(spoken.types).to.deep.equal(["audio-start", "audio-chunk", "audio-stop", "synthesize-stopped"]);
    expect(spoken.formats).to.deep.equal([[24_000, 2, 1]]);
    expect(await usedCharacters()).to.equal(before + text.length);
    const servings = await newServings();
    expect(servings.map(({ characters }) => characters)).to.deep.equal(sentences.map(({ length }) => length));
    const alone = await Promise.all(
      sentences.map((sentence) =>
        call("synthesize", { text: sentence, voice: { name: "US English Female" } }),
      ),
    );
    expect(samplesOf(spoken)).to.equal(alone.map(samplesOf).reduce((sum, samples) => sum + samples, 0));
  });

  it("leaves out sentences without anything to speak, and does not charge them", async () => {
    const spoken = await call("stream", { chunks: ["Done. ", "🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂 ", "\n\n", "— — —"] });
    expect(spoken.error).to.equal(null);
    expect((await newServings()).length).to.be.within(1, 2);
  });

  it("responds to a stream without text with synthesize-stopped alone", async () => {
    expect((await call("stream", { chunks: [] })).types).to.deep.equal(["synthesize-stopped"]);
    expect(await newServings()).to.deep.equal([]);
  });

  it("speaks in a language without a named voice, and in the website's voice without either", async () => {
    await admin(service.url, "PUT", `/websites/${website.id}/config`, {
      voice: { name: "Deutsch Male", rate: 1.5 },
    });
    await call("synthesize", { text: "Bonjour.", voice: { language: "fr_FR" } });
    await call("synthesize", { text: "Guten Tag." });
    const [french, german] = await newServings();
    expect(french).to.include({ lang: "fr-FR" });
    expect(german).to.include({ lang: "de-DE", voice: "Deutsch Male" });
    await admin(service.url, "PUT", `/websites/${website.id}/config`, {});
  });

  it("reports an unknown voice, a blank text and a text that is too long", async () => {
    const unknown = await call("synthesize", { text: "Hello.", voice: { name: "Klaus" } });
    expect(unknown.error).to.deep.equal({ code: "NOT_FOUND", text: 'There is no voice named "Klaus".' });
    expect((await call("synthesize", { text: " " })).error).to.include({ code: "VALIDATION_ERROR" });
    const long = await call("stream", { chunks: Array.from({ length: 101 }, () => "ten chars ") });
    expect(long.error).to.deep.equal({
      code: "VALIDATION_ERROR",
      text: "text is longer than 1000 characters.",
    });
    for (const { characters } of await newServings()) expect(characters).to.be.below(1_000);
  });

  it("starts with a key that is not valid, says so, and closes idle connections at shutdown", async () => {
    const own = await temporaryFolder();
    const other = await startService(own.path, { WYOMING_PORT: "0", WYOMING_KEY: "vlk_none.vls_none" });
    let client: RawClient;
    let exitCode: number | null;
    try {
      expect(other.log.join()).to.include("WYOMING_KEY: The API key or secret is missing or wrong.");
      client = await openRawClient(urlOf(other));
      client.send("ping");
      expect((await client.next())?.type).to.equal("pong");
    } finally {
      exitCode = await other.stop();
      await own.remove();
    }
    expect(exitCode).to.equal(0);
    await client.closed;
  });

  it("refuses a suspended key, but still describes its voices", async () => {
    await admin(service.url, "POST", `/keys/${website.apiKey}/suspend`, { reason: "invoice overdue" });
    const refused = await call("synthesize", { text: "Hello." });
    expect(refused.error).to.deep.equal({
      code: "KEY_SUSPENDED",
      text: "The key is suspended: invoice overdue. Only the operator can reinstate it.",
    });
    expect(await call("describe", {})).to.include({ installed: true });
    await admin(service.url, "POST", `/keys/${website.apiKey}/reinstate`, {});
    expect((await call("synthesize", { text: "Hello." })).error).to.equal(null);
  });
});
