import { expect } from "chai";
import { EngineFailed } from "../../../src/domain/errors.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import type { SpeechRequest } from "../../../src/engines/engine.ts";
import { googleProvider } from "../../../src/engines/google/provider.ts";
import { createExchange, type Exchange } from "../../../src/engines/provider-http/exchange.ts";
import { createSsrfGuard } from "../../../src/engines/provider-http/ssrf-guard.ts";
import { collect } from "../../support/collect.ts";
import { rejection } from "../../support/rejection.ts";
import { googleApiKey, serveGoogle } from "../../support/wire/google.ts";
import type { WireServer } from "../../support/wire/wire-server.ts";

const never = new AbortController().signal;
const clauses = Array.from({ length: 24 }, (_, at) => `and clause number ${at} of the sentence`).join(", ");
const normal = "It was a short sentence.";

describe("A sentence that is too long for Google", () => {
  let server: WireServer;
  /**
   * Requests that do not continue audio: the limiter may refuse them, and looks into the store once
   * more.
   */
  let admissions = 0;
  beforeEach(async () => {
    server = await serveGoogle({ maxSentenceBytes: 300 });
  });
  afterEach(() => server.close());

  const speak = async (changed: Partial<SpeechRequest>) => {
    const send = createExchange({ guard: createSsrfGuard({ by: "operator" }) });
    const exchange: Exchange = (request, signal) => {
      if (!request.isContinuation) admissions++;
      return send(request, signal);
    };
    const { engine } = googleProvider({ exchange, url: server.url }).open({ apiKey: googleApiKey });
    const request: SpeechRequest = {
      ...{ text: clauses, ssml: false, voice: "en-US-Neural2-C", lang: "en-US", prosody: normalProsody },
      format: "mp3",
      ...changed,
    };
    const { encoding, audio } = await engine.synthesize(request, never);
    return { encoding, sound: Buffer.concat(await collect(audio)) };
  };
  const inputs = (status: number): string[] =>
    server.requests
      .filter((request) => request.status === status)
      .map(({ body }) => {
        const { input } = JSON.parse(String(body));
        return input.text ?? input.ssml;
      });

  /**
   * The pieces that were spoken, in the order of the text: two requests are in progress at once.
   */
  const spokenOf = (text: string): string[] => {
    const pieces = inputs(200);
    const ordered: string[] = [];
    for (let rest = text; pieces.length > 0; ) {
      const [next = ""] = pieces.splice(
        pieces.findIndex((piece) => rest.startsWith(piece)),
        1,
      );
      expect(rest.startsWith(next), next).to.equal(true);
      ordered.push(next);
      rest = rest.slice(next.length);
    }
    expect(ordered.join("")).to.equal(text);
    return ordered;
  };

  for (const format of ["mp3", "ogg", "wav"] as const) {
    it(`is split between clauses and spoken: ${format}`, async () => {
      const { encoding, sound } = await speak({ format });
      expect(encoding).to.deep.equal({ kind: "pcm", sampleRate: 24_000 });
      expect(sound.length / 2 / 24_000).to.be.above(30);
      const spoken = spokenOf(clauses);
      expect(spoken).to.have.length(4);
      for (const piece of spoken.slice(0, -1)) expect(piece).to.match(/, $/);
      expect(inputs(400).length).to.be.within(1, 7);
    });
  }

  it("is split between words where it has no clauses", async () => {
    const text = "word ".repeat(200).trim();
    await speak({ text });
    for (const piece of spokenOf(text)) expect(piece).to.match(/^(?:word ?)+$/);
  });

  it("is split within a long text, whose other pieces are requested once", async () => {
    const sentences = Array.from({ length: 220 }, (_, at) => `It was sentence number ${at}. `);
    const text = `${sentences.join("")}${clauses.replace("and", "And")}.`;
    await speak({ text });
    spokenOf(text);
    const requested = server.requests.map(({ body }) => String(body));
    expect(new Set(requested).size).to.equal(requested.length);
  });

  it("is split in a stream, too", async () => {
    const text = `${normal} ${clauses.replace("and", "And")}.`;
    await speak({ text, progressive: true });
    expect(spokenOf(text)[0]).to.equal(`${normal} `);
  });

  it("is split without asking for admission again", async () => {
    for (const text of [
      clauses,
      `${"It was a short sentence. ".repeat(230)}${clauses.replace("and", "And")}.`,
    ]) {
      const before = admissions;
      await speak({ text });
      expect(admissions - before).to.equal(1);
    }
  });

  it("is split within SSML", async () => {
    await speak({ text: `<speak><p>${clauses}.</p><break time="1s"/></speak>`, ssml: true });
    const spoken = inputs(200);
    expect(spoken.length).to.be.above(1);
    for (const piece of spoken) expect(piece).to.match(/^<speak>.*<\/speak>$/s);
    const clausesOf = (text: string) => text.match(/number \d+/g)?.sort();
    expect(clausesOf(spoken.join(""))).to.deep.equal(clausesOf(clauses));
    expect(spoken.join("").match(/<break/g)).to.have.length(1);
  });

  it("is split a bounded number of times", async () => {
    await server.close();
    server = await serveGoogle({ maxSentenceBytes: 5 });
    const failure = await rejection(speak({ text: `${clauses}, ${clauses}, ${clauses}` }));
    expect(failure).to.be.instanceOf(EngineFailed).and.include({ status: 400 });
    expect(server.requests.length).to.be.below(30);
  });

  it("is the only refusal that is followed by other requests", async () => {
    const message = "Request contains an invalid argument.";
    for (const text of [normal, `${clauses} `.repeat(6)]) {
      const before = server.requests.length;
      server.faults.always({ kind: "refusal", status: 400, message });
      expect(await rejection(speak({ text }))).to.include({ message, status: 400 });
      expect(server.requests.length - before).to.equal(1);
    }
  });

  it("is not split while Google accepts it", async () => {
    await server.close();
    server = await serveGoogle();
    expect((await speak({})).encoding).to.deep.equal({ kind: "encoded", format: "mp3" });
    expect(server.requests).to.have.length(1);
  });
});
