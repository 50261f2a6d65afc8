import { expect } from "chai";
import { EngineFailed, NothingToSpeak, Unpronounceable } from "../../src/domain/errors.ts";
import { expectError, expectEvent, nextSynthesis, samples, speakNext } from "./expectations.ts";
import type { RawClient } from "./raw-client.ts";
import { startWyomingServer, type TestWyomingServer } from "./test-server.ts";

describe("utterances over the Wyoming protocol", () => {
  let served: TestWyomingServer;
  let client: RawClient;

  const serve = async (): Promise<void> => {
    served = await startWyomingServer();
    client = await served.connect();
  };
  afterEach(() => served.close());

  it("speaks one utterance at a time, in order", async () => {
    await serve();
    client.send("synthesize", { text: "First." });
    client.send("synthesize", { text: "Second." });
    const first = await nextSynthesis(served, "First.");
    await expectEvent(client, "audio-start", { rate: 24_000, width: 2, channels: 1 });
    expect(served.streaming.begun).to.equal(1);
    first.end();
    await expectEvent(client, "audio-stop");
    await speakNext(served, "Second.");
    await expectEvent(client, "audio-start");
    expect((await client.next())?.payload.equals(samples)).to.equal(true);
    await expectEvent(client, "audio-stop");
  });

  it("sends whole samples, however the audio is cut", async () => {
    await serve();
    client.send("synthesize", { text: "Odd." });
    const synthesis = await nextSynthesis(served, "Odd.");
    for (const chunk of ["a", "bcd", "ef"]) void synthesis.push(Buffer.from(chunk));
    synthesis.end();
    await expectEvent(client, "audio-start");
    const payloads: string[] = [];
    for (let event = await client.next(); event?.type === "audio-chunk"; event = await client.next())
      payloads.push(event.payload.toString());
    expect(payloads).to.deep.equal(["abcd", "ef"]);
  });

  it("speaks a stream's sentences before the stream ends, and ignores the repeated text", async () => {
    await serve();
    client.send("synthesize-start", { voice: { name: "UK English Female", speaker: "none" } });
    client.send("synthesize-chunk", { text: "It is done. Any" });
    await speakNext(served, "It is done. ");
    await expectEvent(client, "audio-start");
    await expectEvent(client, "audio-chunk");
    client.send("synthesize-chunk", { text: "thing else?" });
    client.send("synthesize", { text: "It is done. Anything else?" });
    client.send("synthesize-stop");
    await speakNext(served, "Anything else?");
    await expectEvent(client, "audio-chunk");
    await expectEvent(client, "audio-stop");
    await expectEvent(client, "synthesize-stopped");
    expect(served.streaming.begun).to.equal(2);
  });

  it("refuses a stream within a stream", async () => {
    await serve();
    client.send("synthesize-start");
    client.send("synthesize-start");
    await expectError(client, "VALIDATION_ERROR", /synthesize-stop must precede/);
  });

  it("refuses a stream whose text becomes too long", async () => {
    await serve();
    client.send("synthesize-start");
    client.send("synthesize-chunk", { text: "a".repeat(1_000) });
    client.send("synthesize-chunk", { text: "b" });
    await expectError(client, "VALIDATION_ERROR", /longer than 1000 characters/);
  });

  it("refuses a text without anything to speak, but leaves out such a sentence of a stream", async () => {
    await serve();
    const silent = new NothingToSpeak();
    client.send("synthesize-start");
    client.send("synthesize-chunk", { text: "!!! " });
    client.send("synthesize-stop");
    (await served.streaming.next()).refuse(silent);
    await expectError(client, "VALIDATION_ERROR", /nothing that can be spoken/);
    client = await served.connect();
    client.send("synthesize-start");
    client.send("synthesize-chunk", { text: "Here we are. All of us are here. Really." });
    client.send("synthesize-stop");
    await speakNext(served, "Here we are. ");
    (await served.streaming.next()).refuse(silent);
    await expectEvent(client, "audio-start");
    await expectEvent(client, "audio-chunk");
    await speakNext(served, "Really.");
    await expectEvent(client, "audio-chunk");
    await expectEvent(client, "audio-stop");
    await expectEvent(client, "synthesize-stopped");
  });

  it("ends with an error at a sentence that no voice pronounces: it is not left out", async () => {
    await serve();
    client.send("synthesize-start");
    client.send("synthesize-chunk", { text: "Here we are. All of us are here. Really." });
    client.send("synthesize-stop");
    await speakNext(served, "Here we are. ");
    (await served.streaming.next()).refuse(new Unpronounceable("ꕙ"));
    await expectEvent(client, "audio-start");
    await expectEvent(client, "audio-chunk");
    await expectError(client, "VALIDATION_ERROR", /U\+A559/);
  });

  it("sends no audio at volume 0", async () => {
    await serve();
    await served.core.websites.configure(served.website.id, { voice: { volume: 0 } }, { actor: "admin" });
    client.send("synthesize", { text: "Silence." });
    await expectEvent(client, "audio-start");
    await expectEvent(client, "audio-stop");
    expect(served.streaming.begun).to.equal(0);
  });

  it("ends with an error, and without audio-stop, when a synthesis fails midway", async () => {
    await serve();
    client.send("synthesize", { text: "Hello." });
    const synthesis = await nextSynthesis(served, "Hello.");
    await synthesis.push(samples);
    synthesis.fail(new EngineFailed("The provider returned no audio."));
    await expectEvent(client, "audio-start");
    await expectEvent(client, "audio-chunk");
    expect((await client.next())?.data).to.deep.equal({
      text: "The provider returned no audio.",
      code: null,
    });
    expect(await client.next()).to.equal(undefined);
  });

  it("reveals nothing of an internal error, and logs it", async () => {
    await serve();
    client.send("synthesize", { text: "Hello." });
    (await served.streaming.next()).refuse(new Error("secret detail"));
    await expectError(client, "INTERNAL_ERROR", /^Something went wrong on our side\.$/);
    expect(served.log.join()).to.include("secret detail");
  });

  it("never logs the secret or the text", async () => {
    await serve();
    client.send("synthesize", { text: "A private sentence." });
    await speakNext(served, "A private sentence.");
    for (const type of ["audio-start", "audio-chunk", "audio-stop"]) await expectEvent(client, type);
    const log = served.log.join("\n");
    expect(log).to.include('"outcome":"whole"').and.not.include("private");
    expect(log).not.to.include(served.website.apiSecret);
  });
});
