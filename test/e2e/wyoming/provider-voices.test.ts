import { expect } from "chai";
import { admin, type Credentials } from "../../support/client.ts";
import { createWebsite } from "../../support/command-line.ts";
import { type RunningService, startService, temporaryFolder } from "../../support/service.ts";
import { goodCredentials, serveProviders, type WireProviders } from "../../support/wire/providers.ts";
import { openRawClient, type RawClient } from "../../wyoming/raw-client.ts";

const voice = "en-US-Neural2-C";

/** Google encodes mp3 and Opus only; the protocol's clients take samples. */
describe("A voice of Google over the Wyoming protocol", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let providers: WireProviders;
  let service: RunningService;
  let website: Credentials;
  let client: RawClient;

  before(async () => {
    [folder, providers] = await Promise.all([temporaryFolder(), serveProviders()]);
    website = await createWebsite(folder.path);
    service = await startService(folder.path, {
      ...providers.env,
      WYOMING_PORT: "0",
      WYOMING_KEY: `${website.apiKey}.${website.apiSecret}`,
    });
    await admin(service.url, "PUT", `/websites/${website.id}/credentials/gwn`, goodCredentials.gwn);
    const { url } = JSON.parse(service.log.find((line) => line.includes('"msg":"wyoming"')) ?? "");
    client = await openRawClient(url);
  });
  after(async () => {
    client.socket.destroy();
    await service.stop();
    await Promise.all([providers.close(), folder.remove()]);
  });

  const speechRequests = (): { audioConfig: { audioEncoding: string } }[] =>
    providers.gwn.requests
      .filter(({ method, path }) => method === "POST" && path.startsWith("/v1/text:synthesize"))
      .map(({ body }) => JSON.parse(body.toString()));

  /** The samples of an utterance. */
  const speak = async (text: string): Promise<Buffer> => {
    client.send("synthesize", { text, voice: { name: voice } });
    const parts: Buffer[] = [];
    for (;;) {
      const event = await client.next();
      if (!event || event.type === "error") throw new Error(JSON.stringify(event));
      if (event.type === "audio-stop") return Buffer.concat(parts);
      expect(event.data, event.type).to.include({ rate: 24_000, width: 2, channels: 1 });
      parts.push(event.payload);
    }
  };

  /** Requests the text over OpenAI's API. */
  const speakOverHttp = async (input: string, response_format: string): Promise<Buffer> => {
    const response = await fetch(`${service.url}/openai/v1/audio/speech`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${website.apiKey}.${website.apiSecret}`,
        "Content-Type": "application/json",
      },
      body: JSON.stringify({ model: "gwn", voice, input, response_format }),
    });
    expect(response.status).to.equal(200);
    return Buffer.from(await response.arrayBuffer());
  };

  it("is requested as samples, and heard as these", async () => {
    const text = "The train leaves at nine.";
    const samples = await speak(text);
    expect(speechRequests().at(-1)?.audioConfig.audioEncoding).to.equal("LINEAR16");
    const seconds = samples.length / 48_000;
    expect(seconds).to.be.within(0.8, 4);
    const values = new Int16Array(samples.buffer, samples.byteOffset, samples.length / 2);
    expect(Math.max(...values)).to.be.above(1_000);
    expect(samples.equals(await speakOverHttp(text, "pcm"))).to.equal(true);
  });

  it("is other audio than its mp3, which Google encodes", async () => {
    const text = "It arrives at noon.";
    const mp3 = await speakOverHttp(text, "mp3");
    const before = speechRequests().length;
    const samples = await speak(text);
    expect(speechRequests().length).to.equal(before + 1);
    expect(speechRequests().at(-1)?.audioConfig.audioEncoding).to.equal("LINEAR16");
    expect(samples.length).to.be.above(mp3.length);
  });

  it("joins the samples of a text that takes several requests to Google", async () => {
    const sentence = "The next train to the coast leaves the station at a quarter past nine. ";
    const before = speechRequests().length;
    const samples = await speak(sentence.repeat(6));
    expect(speechRequests().length - before).to.be.above(1);
    expect(samples.length).to.be.above(5 * (await speak(sentence)).length);
  });
});
