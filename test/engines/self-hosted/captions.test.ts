import { expect } from "chai";
import { EngineFailed } from "../../../src/domain/errors.ts";
import type { Mark } from "../../../src/domain/synthesis/marks.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import type { Engine, SpeechRequest } from "../../../src/engines/engine.ts";
import { createExchange } from "../../../src/engines/provider-http/exchange.ts";
import { UpstreamFailed } from "../../../src/engines/provider-http/request-failed.ts";
import { createSsrfGuard } from "../../../src/engines/provider-http/ssrf-guard.ts";
import { selfHostedEngine } from "../../../src/engines/self-hosted/engine.ts";
import { parseSelfHosted } from "../../../src/engines/self-hosted/server.ts";
import { collect } from "../../support/collect.ts";
import { rejection } from "../../support/rejection.ts";
import { type OpenAiWireOptions, serveOpenAi } from "../../support/wire/openai.ts";
import type { WireServer } from "../../support/wire/wire-server.ts";
import { wordAt } from "../../support/word-at.ts";

const voice = "openai:af_bella";
const exchange = createExchange({ guard: createSsrfGuard({ by: "operator" }) });
const requestOf = (text: string): SpeechRequest => ({
  ...{ text, ssml: false, voice, lang: "en-US", prosody: normalProsody, format: "mp3" },
});

const manyWords = {
  audio: Buffer.alloc(1000).toString("base64"),
  timestamps: Array.from({ length: 10_001 }, (_, index) => ({ word: "a", start_time: index })),
};

describe("A self-hosted server with captions", () => {
  let server: WireServer;
  let engine: Engine;
  const serve = async (options: Partial<OpenAiWireOptions> = {}): Promise<void> => {
    server = await serveOpenAi({
      ...{ apiKey: undefined, models: ["kokoro"], voices: ["af_bella"], captions: true },
      ...options,
    });
    const setting = `openai:${server.url}/v1?model=kokoro&voices=af_bella&captions=true`;
    engine = selfHostedEngine("g1", parseSelfHosted(setting), exchange);
  };
  afterEach(() => server.close());

  const speak = async (text: string): Promise<{ seconds: number; marks: readonly Mark[] }> => {
    const { encoding, audio, marks } = await engine.synthesize(requestOf(text), new AbortController().signal);
    expect(encoding).to.deep.equal({ kind: "pcm", sampleRate: 24_000 });
    const bytes = Buffer.concat(await collect(audio));
    return { seconds: bytes.length / 2 / 24_000, marks: marks?.() ?? [] };
  };
  const wordsOf = (marks: readonly Mark[]) => marks.filter(({ type }) => type === "word");

  it("has marks, and a version of its own", async () => {
    await serve();
    expect(engine.marks?.(voice)).to.equal(true);
    expect(engine.version(voice)).to.match(/ kokoro captions$/);
    const setting = `openai:${server.url}/v1?model=kokoro&voices=af_bella&captions=false`;
    const plain = selfHostedEngine("g1", parseSelfHosted(setting), exchange);
    expect([plain.marks?.(voice), plain.version(voice).endsWith(" kokoro")]).to.deep.equal([false, true]);
  });

  it("gives every word that is spoken as written its place and its time", async () => {
    await serve();
    const text = "Hello, wide world! It costs 42 euros, doesn’t it?";
    const { seconds, marks } = await speak(text);
    expect(marks.filter(({ type }) => type === "sentence").map((mark) => wordAt(text, mark))).to.deep.equal([
      "Hello, wide world!",
      "It costs 42 euros, doesn’t it?",
    ]);
    const words = wordsOf(marks);
    expect(words.map((mark) => wordAt(text, mark))).to.deep.equal([
      "Hello",
      "wide",
      "world",
      "It",
      "costs",
      "euros",
      "doesn’t",
      "it",
    ]);
    const spoken: readonly string[] = text.match(/[\p{L}\p{N}'’]+|[^\s\p{L}\p{N}]/gu) ?? [];
    expect(words[1]?.time).to.be.closeTo((1000 * seconds * spoken.indexOf("wide")) / spoken.length, 1);
    expect(JSON.parse(String(server.requests[0]?.body))).to.deep.equal({
      ...{ model: "kokoro", input: text, voice: "af_bella", response_format: "pcm", stream: true },
    });
  });

  it("times the words of later pieces from the start of the audio, also when pieces have the same text", async () => {
    await serve();
    const sentence = `${"The same words again and again. ".repeat(60)}\n`;
    const { seconds, marks } = await speak(sentence.repeat(3));
    expect(server.requests.length).to.be.above(2);
    const words = wordsOf(marks);
    expect(words).to.have.length(3 * 60 * 6);
    expect(words.every(({ time }, index) => time >= (words[index - 1]?.time ?? 0))).to.equal(true);
    expect(words.at(-1)?.time).to.be.within(1000 * (seconds - 1), 1000 * seconds);
  });

  const response = (words: readonly (readonly [word: string, start_time: number])[], seconds = 1): void => {
    const timestamps = words.map(([word, start_time]) => ({ word, start_time }));
    const line = { audio: Buffer.alloc(2 * 24_000 * seconds).toString("base64"), timestamps };
    const body = Buffer.from(`${JSON.stringify(line)}\n`);
    server.faults.next({ kind: "answer", response: { status: 200, headers: {}, body } });
  };

  it("does not take a word of a spoken number for the same word later in the text", async () => {
    await serve();
    const spoken = "I paid forty two dollars . The two dogs barked .".split(" ");
    response(spoken.map((word, index) => [word, index / 20]));
    const text = "I paid 42 dollars. The two dogs barked.";
    const { marks } = await speak(text);
    expect(wordsOf(marks).map((mark) => [wordAt(text, mark), mark.time])).to.deep.equal([
      ["I", 0],
      ["paid", 50],
      ["dollars", 200],
      ["The", 300],
      ["two", 350],
      ["dogs", 400],
      ["barked", 450],
    ]);
  });

  it("finds the words again after several that the server does not report", async () => {
    await serve();
    response([
      ["One", 0],
      ["five", 0.4],
      ["six", 0.5],
    ]);
    const text = "One two three four five six.";
    const { marks } = await speak(text);
    expect(wordsOf(marks).map((mark) => wordAt(text, mark))).to.deep.equal(["One", "five", "six"]);
  });

  it("refuses audio that is far too short for its text", async () => {
    await serve();
    response([], 4);
    const failure = await rejection(speak("The house of Anna has many rooms. ".repeat(16)));
    expect(failure)
      .to.be.instanceOf(EngineFailed)
      .and.have.property("message")
      .that.contains("parts of it are missing");
  });

  it("places no word after the end of the audio", async () => {
    await serve();
    response([
      ["Hello", 0],
      ["world", 1e300],
    ]);
    const { seconds, marks } = await speak("Hello world");
    expect(wordsOf(marks).map(({ time }) => time)).to.deep.equal([0, 1000 * seconds]);
  });

  it("fails as the provider's error where the server has no captions", async () => {
    await serve({ captions: false });
    const failure = await rejection(speak("Hello."));
    expect(failure).to.be.instanceOf(UpstreamFailed).and.include({ status: 404 });
  });

  for (const [what, body] of [
    ["no JSON", "this is no JSON\n"],
    ["another JSON", '{"message":"Hello"}\n'],
    ["no base64", '{"audio":"???","timestamps":[]}\n'],
    ["more words than a text has", `${JSON.stringify(manyWords)}\n`],
    ["nothing", ""],
    ["a line without an end", `{"audio":"${"A".repeat(9 * 1024 * 1024)}`],
  ] as const) {
    it(`fails when the response contains ${what}`, async () => {
      await serve();
      server.faults.next({ kind: "answer", response: { status: 200, headers: {}, body: Buffer.from(body) } });
      expect(await rejection(speak("Hello."))).to.be.instanceOf(EngineFailed);
    });
  }
});
