import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import { EngineFailed } from "../../../src/domain/errors.ts";
import type { ProviderCredentials } from "../../../src/domain/synthesis/byok-providers.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import { wavHeader } from "../../../src/domain/synthesis/wav-header.ts";
import type { SpeechRequest } from "../../../src/engines/engine.ts";
import { googleProvider } from "../../../src/engines/google/provider.ts";
import type { ProviderClient } from "../../../src/engines/provider.ts";
import { createExchange } from "../../../src/engines/provider-http/exchange.ts";
import { createSsrfGuard } from "../../../src/engines/provider-http/ssrf-guard.ts";
import { collect } from "../../support/collect.ts";
import { type RecordedRequest, recordRequests } from "../../support/record-requests.ts";
import { rejection } from "../../support/rejection.ts";

const never = new AbortController().signal;
const google = "https://texttospeech.googleapis.com";
const tokens = "https://oauth2.googleapis.com";
const sound = JSON.stringify({ audioContent: Buffer.from("some sound").toString("base64") });

const accountOf = (credentials: ProviderCredentials["gwn"]): ProviderClient =>
  googleProvider({ exchange: createExchange({ guard: createSsrfGuard({ by: "operator" }) }) }).open(
    credentials,
  );
const byKey = () => accountOf({ apiKey: "the-key-of-nobody" });

const request: SpeechRequest = {
  text: "Hello, world.",
  ssml: false,
  voice: "en-US-Neural2-C",
  lang: "en-US",
  prosody: normalProsody,
  format: "mp3",
};

const say = async (account: ProviderClient, changed: Partial<SpeechRequest> = {}): Promise<Buffer> => {
  const { audio } = await account.engine.synthesize({ ...request, ...changed }, never);
  return Buffer.concat(await collect(audio));
};

const sendRequest = async (
  changed: Partial<SpeechRequest> = {},
): Promise<{ request: RecordedRequest; body: unknown }> => {
  const [only, ...others] = await recordRequests(
    [google],
    () => [200, sound],
    () => say(byKey(), changed),
  );
  if (!only || others.length > 0) throw new Error(`${others.length + 1} requests`);
  return { request: only, body: JSON.parse(only.body) };
};

const audioConfig = async (prosody: Partial<SpeechRequest["prosody"]>, voice = request.voice) =>
  ((await sendRequest({ voice, prosody: { ...normalProsody, ...prosody } })).body as { audioConfig: object })
    .audioConfig;

describe("A request to Google", () => {
  it("contains the text, the voice with its own language, and the audio encoding", async () => {
    const { request: sent, body } = await sendRequest();
    expect(sent.path).to.equal("/v1/text:synthesize");
    expect(body).to.deep.equal({
      input: { text: "Hello, world." },
      voice: { languageCode: "en-US", name: "en-US-Neural2-C" },
      audioConfig: { audioEncoding: "MP3" },
    });
  });

  it("contains the key only in a header", async () => {
    const { request: sent } = await sendRequest();
    expect(sent.headers["x-goog-api-key"]).to.equal("the-key-of-nobody");
    expect(sent.path + sent.body).not.to.include("nobody");
  });

  it("requests Opus in Ogg for ogg", async () => {
    expect((await sendRequest({ format: "ogg" })).body).to.have.nested.property(
      "audioConfig.audioEncoding",
      "OGG_OPUS",
    );
  });

  it("contains no lone surrogates, which a JSON parser may reject", async () => {
    expect((await sendRequest({ text: "a\ud83d b" })).body).to.have.deep.property("input", {
      text: "a\ufffd b",
    });
  });

  it("sends SSML as SSML", async () => {
    const ssml = "<speak>Hello, <emphasis>world</emphasis>.</speak>";
    expect((await sendRequest({ text: ssml, ssml: true })).body).to.have.deep.property("input", { ssml });
  });

  for (const [rule, prosody, expected] of [
    ["omits prosody parameters with default values", {}, {}],
    ["sends the rate unchanged", { rate: 1.25 }, { speakingRate: 1.25 }],
    ["does not go below Google's minimum rate", { rate: 0 }, { speakingRate: 0.25 }],
    ["sends pitch in semitones: doubled is one octave up", { pitch: 2 }, { pitch: 12 }],
    ["sends a halved pitch as one octave down", { pitch: 0.5 }, { pitch: -12 }],
    ["does not go below Google's minimum pitch", { pitch: 0 }, { pitch: -20 }],
    ["sends the volume in decibels", { volume: 0.5 }, { volumeGainDb: -6.02 }],
    ["sends Google's minimum gain at volume 0", { volume: 0 }, { volumeGainDb: -96 }],
  ] as const) {
    it(rule, async () => {
      expect(await audioConfig(prosody)).to.deep.equal({ audioEncoding: "MP3", ...expected });
    });
  }

  it("omits prosody parameters that a voice family rejects", async () => {
    const turned = { pitch: 1.5, rate: 1.5, volume: 0.5 };
    const config = { audioEncoding: "MP3", volumeGainDb: -6.02 };
    expect(await audioConfig(turned, "en-US-Chirp3-HD-Kore")).to.deep.equal({ ...config, speakingRate: 1.5 });
    expect(await audioConfig(turned, "en-US-Studio-O")).to.deep.equal({ ...config, speakingRate: 1.5 });
    expect(await audioConfig(turned, "en-US-Chirp-HD-F")).to.deep.equal(config);
    const { engine } = byKey();
    expect(engine.prosody("en-US-Chirp3-HD-Kore")).to.deep.equal(["rate", "volume"]);
    expect(engine.prosody("en-US-Chirp-HD-F")).to.deep.equal(["volume"]);
    expect(engine.prosody("en-US-Wavenet-A")).to.deep.equal(["pitch", "rate", "volume"]);
  });

  it("rejects SSML for a voice family that does not support it", async () => {
    const { engine } = byKey();
    expect(engine.takesSsml("en-US-Chirp-HD-F")).to.equal(false);
    expect(engine.takesSsml("en-US-Neural2-C")).to.equal(true);
    const document = { ...request, text: "<speak>a</speak>", ssml: true, voice: "en-US-Chirp-HD-F" };
    expect(await rejection(engine.synthesize(document, never))).to.be.instanceOf(EngineFailed);
  });

  it("contains at most 5,000 bytes of text, and requests one sample rate when a text needs several calls", async () => {
    const text = "Ein Satz über Gänse, Bäume und Öl. ".repeat(200);
    const samples = Buffer.alloc(60 * 2 * 24_000);
    const wav = Buffer.concat([wavHeader(24_000, samples.length), samples]);
    const response = JSON.stringify({ audioContent: wav.toString("base64") });
    const requests = await recordRequests(
      [google],
      () => [200, response],
      async () => {
        const { encoding, audio } = await byKey().engine.synthesize({ ...request, text }, never);
        expect(encoding).to.deep.equal({ kind: "pcm", sampleRate: 24_000 });
        await collect(audio);
      },
    );
    const bodies = requests.map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ input }) => input.text).join("")).to.equal(text);
    for (const { input, audioConfig } of bodies) {
      expect(Buffer.byteLength(input.text)).to.be.at.most(5000);
      expect(audioConfig).to.deep.equal({ audioEncoding: "LINEAR16", sampleRateHertz: 24_000 });
    }
  });
});

describe("A Google service account", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const private_key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const signing = {
    client_email: "speech@project.iam.gserviceaccount.com",
    private_key,
    private_key_id: "key-1",
  };
  const both = [google, tokens];
  const token = JSON.stringify({ access_token: "ya29.of-nobody", expires_in: 3600, token_type: "Bearer" });
  const response = ({ path }: RecordedRequest) => [200, path === "/token" ? token : sound] as const;

  it("obtains a token from Google's token service, for the speech scope alone, and sends it as a bearer token", async () => {
    const account = accountOf({ serviceAccount: signing });
    const [signIn, spoken] = await recordRequests(both, response, () => say(account));
    const form = new URLSearchParams(signIn?.body);
    expect(form.get("grant_type")).to.equal("urn:ietf:params:oauth:grant-type:jwt-bearer");
    const [, claims = ""] = form.get("assertion")?.split(".") ?? [];
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).to.include({
      iss: signing.client_email,
      scope: "https://www.googleapis.com/auth/cloud-platform",
      aud: "https://oauth2.googleapis.com/token",
    });
    expect(spoken?.headers.authorization).to.equal("Bearer ya29.of-nobody");
    expect(spoken?.headers).not.to.have.property("x-goog-api-key");
  });

  it("obtains one token for its whole lifetime, however many calls run concurrently", async () => {
    const account = accountOf({ serviceAccount: signing });
    const requests = await recordRequests(both, response, async () => {
      await Promise.all([say(account), say(account)]);
      await say(account);
    });
    expect(requests.filter(({ path }) => path === "/token")).to.have.length(1);
  });

  it("fails with Google's message when it is not authorized, without a retry", async () => {
    const account = accountOf({ serviceAccount: signing });
    const refusal = JSON.stringify({ error: "invalid_grant", error_description: "Invalid JWT Signature." });
    const requests = await recordRequests(
      both,
      () => [400, refusal],
      async () => {
        const failure = await rejection(account.listVoices(never));
        expect(failure).to.be.instanceOf(EngineFailed);
        expect(failure).to.have.property("message", "Invalid JWT Signature.");
        expect(failure).not.to.have.nested.property("cause.config");
      },
    );
    expect(requests).to.have.length(1);
  });

  it("does not retry when the token service fails", async () => {
    const account = accountOf({ serviceAccount: signing });
    const requests = await recordRequests(
      both,
      () => [503, ""],
      async () => {
        expect(await rejection(account.listVoices(never))).to.be.instanceOf(EngineFailed);
      },
    );
    expect(requests).to.have.length(1);
  });

  it("reports an unusable key without repeating it", async () => {
    const account = accountOf({ serviceAccount: { ...signing, private_key: "-----BEGIN what-is-this" } });
    await recordRequests(both, response, async () => {
      const failure = await rejection(account.listVoices(never));
      expect(failure).to.be.instanceOf(EngineFailed);
      expect(failure)
        .to.have.property("message")
        .that.includes("private key")
        .and.not.includes("what-is-this");
      expect(failure).to.have.property("cause", undefined);
    });
  });

  it("lets a caller abort its wait for the token, and continues for the others", async () => {
    const account = accountOf({ serviceAccount: signing });
    const controller = new AbortController();
    const reason = new Error("the caller left");
    await recordRequests(both, response, async () => {
      const asking = account.listVoices(controller.signal);
      controller.abort(reason);
      expect(await rejection(asking)).to.equal(reason);
      expect(await account.listVoices(never)).to.deep.equal([]);
    });
  });
});

describe("Google's voice list", () => {
  const listed = (voices: unknown) => {
    let received: unknown;
    const list = JSON.stringify({ voices });
    return recordRequests(
      [google],
      () => [200, list],
      async () => {
        received = await byKey().listVoices(never);
      },
    ).then((requests) => ({ received, requests }));
  };

  it("is requested with the key in a header", async () => {
    const { requests } = await listed([]);
    expect(requests.map(({ path }) => path)).to.deep.equal(["/v1/voices"]);
    expect(requests[0]?.headers["x-goog-api-key"]).to.equal("the-key-of-nobody");
  });

  it("maps each voice to its first language and its gender", async () => {
    const { received } = await listed([
      { name: "en-US-Neural2-C", languageCodes: ["en-US", "en-GB"], ssmlGender: "FEMALE" },
      { name: "de-DE-Neural2-B", languageCodes: ["de-DE"], ssmlGender: "MALE" },
      { name: "cmn-CN-Wavenet-A", languageCodes: ["cmn-CN"], ssmlGender: "NEUTRAL" },
    ]);
    expect(received).to.deep.equal([
      { name: "en-US-Neural2-C", lang: "en-US", gender: "f" },
      { name: "de-DE-Neural2-B", lang: "de-DE", gender: "m" },
      { name: "cmn-CN-Wavenet-A", lang: "cmn-CN", gender: "f" },
    ]);
  });

  it("excludes voices that this API cannot use", async () => {
    const { received } = await listed([
      { name: "Achernar", languageCodes: ["en-US"] },
      { name: "en-US-Neural2-C" },
      null,
    ]);
    expect(received).to.deep.equal([]);
  });
});
