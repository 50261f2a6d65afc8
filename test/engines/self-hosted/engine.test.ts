import { expect } from "chai";
import { EngineFailed } from "../../../src/domain/errors.ts";
import type { AudioFormat } from "../../../src/domain/synthesis/formats.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import type { Engine, SpeechRequest } from "../../../src/engines/engine.ts";
import { localEngines } from "../../../src/engines/local/engine.ts";
import { createExchange } from "../../../src/engines/provider-http/exchange.ts";
import { createSsrfGuard } from "../../../src/engines/provider-http/ssrf-guard.ts";
import { combineEngines, selfHostedEngine } from "../../../src/engines/self-hosted/engine.ts";
import { parseSelfHosted } from "../../../src/engines/self-hosted/server.ts";
import { engineContract, say } from "../../contracts/engine.ts";
import { duringSuite } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { openToolHost } from "../../support/tool-host.ts";
import { serveOpenAi } from "../../support/wire/openai.ts";
import type { WireServer } from "../../support/wire/wire-server.ts";

const sentence = "The quick brown fox jumps over the lazy dog, and then it goes home to its children.";
const exchange = createExchange({ guard: createSsrfGuard({ by: "operator" }) });
const kokoro = { apiKey: undefined, models: ["kokoro"], voices: ["af_bella", "bm_george"] };

const setting = (url: string, more = "") =>
  parseSelfHosted(`openai:${url}/v1?model=kokoro&voices=af_bella,bm_george${more}`);
const requestOf = (voice: string, format: AudioFormat = "mp3"): SpeechRequest => ({
  ...{ text: sentence, ssml: false, voice, lang: "en-US", prosody: normalProsody, format },
});

engineContract("a self-hosted server", async () => {
  const server = await serveOpenAi(kokoro);
  return {
    engine: combineEngines(selfHostedEngine("g1", setting(server.url), exchange), undefined),
    request: requestOf("openai:af_bella"),
    longText: `${sentence} `.repeat(40),
    unspeakable: " … \n — ",
    idle: server.idle,
    end: server.close,
  };
});

describe("A self-hosted server combined with the local engine", () => {
  const host = duringSuite(openToolHost);
  let server: WireServer;
  let local: Engine;
  let both: Engine;

  before(async () => {
    const [g1] = await localEngines({ host });
    if (!g1) throw new Error("neither espeak-ng nor flite is installed");
    local = g1;
  });
  beforeEach(async () => {
    server = await serveOpenAi(kokoro);
    both = combineEngines(selfHostedEngine("g1", setting(server.url), exchange), local);
  });
  afterEach(() => server.close());

  it("speaks with its own voices, by their own names", async () => {
    expect((await say(both, requestOf("openai:bm_george"))).length).to.be.above(1000);
    expect(JSON.parse(String(server.requests[0]?.body))).to.deep.equal({
      ...{ model: "kokoro", input: sentence, voice: "bm_george", response_format: "mp3" },
    });
  });

  it("receives a key only when the setting has one", async () => {
    await say(both, requestOf("openai:af_bella"));
    await say(
      selfHostedEngine("g1", setting(server.url, "&key=s%26k"), exchange),
      requestOf("openai:af_bella"),
    );
    expect(server.requests.map(({ headers }) => headers.authorization)).to.deep.equal([
      undefined,
      "Bearer s&k",
    ]);
  });

  it("is asked for ogg when that is the engine's format", async () => {
    const g5 = selfHostedEngine("g5", setting(server.url), exchange);
    const { encoding } = await g5.synthesize(
      requestOf("openai:af_bella", "ogg"),
      new AbortController().signal,
    );
    expect([g5.code, encoding]).to.deep.equal(["g5", { kind: "encoded", format: "ogg" }]);
  });

  it("leaves all other voices to the local engine", async () => {
    const voice = "espeak:gmw/en-US+f3";
    expect((await say(both, requestOf(voice))).equals(await say(local, requestOf(voice)))).to.equal(true);
    expect(both.version(voice)).to.equal(local.version(voice));
    expect(both.prosody(voice)).to.deep.equal(local.prosody(voice));
    expect([both.takesSsml(voice), both.marks?.(voice)]).to.deep.equal([true, true]);
    expect(server.requests).to.have.length(0);
  });

  it("has the local engine's phonemes and reproducible audio for its voices only", () => {
    const yes = () => true;
    const able = { ...local, isReproducible: yes, takesPhonemes: yes, reportsPhonemes: yes };
    const combined = combineEngines(selfHostedEngine("g1", setting(server.url), exchange), able);
    for (const ability of ["isReproducible", "takesPhonemes", "reportsPhonemes"] as const) {
      const answers = ["espeak:gmw/en-US+f3", "openai:af_bella"].map((voice) => combined[ability]?.(voice));
      expect(answers, ability).to.deep.equal([true, false]);
    }
  });

  it("includes server and model in the version, and no key", () => {
    const engine = selfHostedEngine("g1", setting(server.url, "&key=hunter2"), exchange);
    const { host } = new URL(server.url);
    expect(engine.version("openai:af_bella")).to.equal(`openai ${host}/v1 kokoro`);
  });

  it("fails for its own voices when it is down, and the local voices still work", async () => {
    await server.close();
    const failure = await rejection(say(both, requestOf("openai:af_bella")));
    expect(failure).to.be.instanceOf(EngineFailed).and.include({ stage: "connect" });
    expect((await say(both, requestOf("espeak:gmw/en-US+f3"))).length).to.be.above(1000);
    server = await serveOpenAi(kokoro);
  });

  it("without a local engine has no local voices", async () => {
    const alone = combineEngines(selfHostedEngine("g1", setting(server.url), exchange), undefined);
    expect(await rejection(say(alone, requestOf("espeak:gmw/en-US+f3")))).to.be.instanceOf(EngineFailed);
    expect([alone.version("x"), alone.prosody("x"), alone.takesSsml("x")]).to.deep.equal(["none", [], false]);
  });
});
