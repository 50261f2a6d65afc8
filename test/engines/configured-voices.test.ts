import { expect } from "chai";
import { indexCatalog } from "../../src/domain/catalog/catalog-index.ts";
import { releaseSeed } from "../../src/domain/catalog/seed/seed.ts";
import { resolveVoices, type VoiceRequest } from "../../src/domain/catalog/voice-resolution.ts";
import { systemVoice, voice } from "../../src/domain/catalog/voice-schema.ts";
import type { SystemVoice } from "../../src/domain/synthesis/speech.ts";
import { configuredVoices } from "../../src/engines/configured-voices.ts";
import { voicesOfServers } from "../../src/engines/self-hosted/engine.ts";
import { parseSelfHosted, type SelfHostedServers } from "../../src/engines/self-hosted/server.ts";

const release = releaseSeed();
const shared = indexCatalog(release);
const serverWith = (voices: string) => parseSelfHosted(`openai:http://127.0.0.1:1?model=m&voices=${voices}`);

const selfHostedVoices = (servers: SelfHostedServers) => configuredVoices(voicesOfServers(servers));

const added = (servers: SelfHostedServers) => {
  const found = selfHostedVoices(servers)(shared);
  if (!found) throw new Error("nothing was added");
  return found;
};
/** Combined as in the website's catalog. */
const mergedWith = (servers: SelfHostedServers) => {
  const { voices, systemVoices } = added(servers);
  return indexCatalog(
    { voices: [...release.voices, ...voices], systemVoices: [...release.systemVoices, ...systemVoices] },
    systemVoices,
  );
};
const speakers = (servers: SelfHostedServers, request: Omit<VoiceRequest, "ssml">, ssml = false): string[] =>
  resolveVoices(
    mergedWith(servers),
    { ...request, ssml },
    ({ voiceName }) => !voiceName.startsWith("openai:"),
  ).map(({ engine, voiceName }) => `${engine} ${voiceName}`);

const kokoro = { g1: serverWith("af_bella,bm_george,jf_alpha") };

describe("The voices of a self-hosted server", () => {
  it("do not exist without a server", () => {
    expect(selfHostedVoices({})(shared)).to.equal(undefined);
  });

  it("are in the catalog under their own names, available to every website", () => {
    expect(added(kokoro).voices.map(({ voiceIDs: _, ...rest }) => rest)).to.deep.equal([
      { name: "af_bella", flag: "us", gender: "f", lang: "en-US", provider: "self-hosted" },
      { name: "bm_george", flag: "gb", gender: "m", lang: "en-GB", provider: "self-hosted" },
      { name: "jf_alpha", flag: "jp", gender: "f", lang: "ja-JP", provider: "self-hosted" },
    ]);
  });

  it("are valid catalog entries", () => {
    const servers = { ...kokoro, g5: serverWith("anahit@hy-AM,any@es-419:m") };
    const all = added(servers);
    for (const one of all.voices) expect(voice.parse(one)).to.deep.equal(one);
    for (const one of all.systemVoices) expect(systemVoice.parse(one)).to.deep.equal(one);
  });

  it("are marked as fallback voices, since the service speaks them", () => {
    expect(added(kokoro).systemVoices.map(({ fallbackVoice }) => fallbackVoice)).to.deep.equal([
      true,
      true,
      true,
    ]);
  });

  it("have unique ids that do not depend on the servers of other engines", () => {
    const ids = (servers: SelfHostedServers, engine: string) =>
      added(servers)
        .systemVoices.filter(({ service }) => service === engine)
        .map(({ id }) => id);
    const both = { ...kokoro, g2: serverWith("v1,v2") };
    expect(ids(both, "g1")).to.deep.equal(ids(kokoro, "g1"));
    expect(ids(both, "g2")).to.deep.equal(ids({ g2: both.g2 }, "g2"));
    const all = added(both).systemVoices.map(({ id }) => id);
    expect(new Set(all).size).to.equal(all.length);
    expect(Math.min(...all)).to.be.at.least(4_000_000);
  });

  it("are spoken by the server, and by a local voice of that language and gender when it fails", () => {
    expect(speakers(kokoro, { voice: "af_bella" })).to.deep.equal(["g1 openai:af_bella", "g1 flite:slt"]);
    expect(speakers(kokoro, { voice: "bm_george" })).to.deep.equal([
      "g1 openai:bm_george",
      `g1 ${localVoice("g1-en-GB-male")}`,
    ]);
  });

  it("fall back to the nearest language, and to another free engine if their own has none", () => {
    const servers = { g5: serverWith("kiwi@en-NZ:m,anahit@hy-AM:f") };
    expect(speakers(servers, { voice: "kiwi" })).to.deep.equal([
      "g5 openai:kiwi",
      `g1 ${localVoice("g1-en-GB-male")}`,
    ]);
    expect(speakers(servers, { voice: "anahit" })).to.deep.equal([
      "g5 openai:anahit",
      `g5 ${localVoice("g5-hy-AM-female")}`,
    ]);
  });

  it("have no fallback if no other engine knows the language", () => {
    expect(speakers({ g1: serverWith("thandi@zu-ZA") }, { voice: "thandi" })).to.deep.equal([
      "g1 openai:thandi",
    ]);
  });

  it("with one name on two engines are one voice, spoken by both in the engines' order", () => {
    const servers = { g1: serverWith("af_bella"), g2: serverWith("af_bella") };
    expect(added(servers).voices).to.have.length(1);
    expect(speakers(servers, { voice: "af_bella" })).to.deep.equal([
      "g1 openai:af_bella",
      "g2 openai:af_bella",
      "g1 flite:slt",
      `g2 ${localVoice("g2-en-US-female")}`,
    ]);
  });

  it("come before the local voices when a language is requested", () => {
    expect(speakers(kokoro, { lang: "en-US" })[0]).to.equal("g1 openai:af_bella");
    expect(speakers(kokoro, { lang: "en-US", engine: "g1" })).to.deep.equal([
      "g1 openai:af_bella",
      "g1 flite:slt",
    ]);
  });

  it("are not used for requests that they cannot serve: another gender, another language, SSML", () => {
    expect(speakers(kokoro, { lang: "en-US", gender: "male" })[0]).to.equal("g1 flite:rms");
    expect(speakers(kokoro, { lang: "de-DE" })[0]).to.equal(`g1 ${localVoice("g1-de-DE-female")}`);
    expect(speakers(kokoro, { voice: "af_bella" }, true)).to.deep.equal(["g1 flite:slt"]);
  });

  it("never fall back to a deprecated voice", () => {
    const systemVoices = release.systemVoices.map((one) =>
      one.name === "g1-en-US-female" ? { ...one, deprecated: true } : one,
    );
    const found = selfHostedVoices({ g1: serverWith("af_bella") })(
      indexCatalog({ voices: [], systemVoices }),
    );
    const deprecated = release.systemVoices.find(({ name }) => name === "g1-en-US-female");
    expect(found?.voices[0]?.voiceIDs).not.to.include(deprecated?.id);
  });
});

const localVoice = (name: string): string | undefined =>
  release.systemVoices.find((one: SystemVoice) => one.name === name)?.voiceName;
