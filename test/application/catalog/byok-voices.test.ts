import { expect } from "chai";
import { systemVoice, voice } from "../../../src/domain/catalog/voice-schema.ts";
import {
  type CredentialsInstance,
  fakeGoogle,
  openCredentialsInstance,
  operator,
  otherKey,
  rightKey,
} from "../../support/credentials-instance.ts";

describe("a website's own voices", () => {
  let service: CredentialsInstance;
  let website: string;
  let listed: { name: string; lang: string | undefined; gender: "f" | "m" }[];

  beforeEach(async () => {
    listed = [
      { name: "en-US-Neural2-C", lang: "en-US", gender: "f" },
      { name: "ar-XA-Wavenet-B", lang: "ar-XA", gender: "m" },
      { name: "alloy", lang: undefined, gender: "f" },
    ];
    service = await openCredentialsInstance({ providers: { gwn: fakeGoogle(async () => listed) } });
    website = await service.aWebsite();
  });
  afterEach(() => service.close());

  const set = (apiKey = rightKey) => service.credentials.set(website, "gwn", { apiKey }, operator);
  const own = () => service.ownVoicesOf(website);

  it("do not exist without credentials", async () => {
    expect(own()).to.equal(undefined);
    expect(service.ownVoicesOf("web_none")).to.equal(undefined);
  });

  it("have the provider's names and are marked as BYOK", async () => {
    await set();
    expect(own()?.voices).to.deep.equal([
      {
        name: "en-US-Neural2-C",
        flag: "us",
        gender: "f",
        lang: "en-US",
        voiceIDs: [1_000_000],
        isByok: true,
        provider: "google",
      },
      {
        name: "ar-XA-Wavenet-B",
        flag: "eg",
        gender: "m",
        lang: "ar-XA",
        voiceIDs: [1_000_001],
        isByok: true,
        provider: "google",
      },
      {
        name: "alloy",
        flag: "us",
        gender: "f",
        lang: "en-US",
        voiceIDs: [1_000_002],
        isByok: true,
        provider: "google",
      },
    ]);
  });

  it("refer each to the provider's voice of that name; a voice without a language speaks any", async () => {
    await set();
    expect(own()?.systemVoices[0]).to.deep.equal({
      id: 1_000_000,
      name: "en-US-Neural2-C",
      lang: "en-US",
      fallbackVoice: true,
      service: "gwn",
      voiceName: "en-US-Neural2-C",
      gender: "f",
    });
    expect(own()?.systemVoices[2]).to.not.have.property("lang");
  });

  it("satisfy the schema of catalog voices", async () => {
    await set();
    const { voices = [], systemVoices = [] } = own() ?? {};
    expect([voices.length, systemVoices.length]).to.deep.equal([listed.length, listed.length]);
    for (const one of voices) expect(voice.parse(one)).to.deep.equal(one);
    for (const one of systemVoices) expect(systemVoice.parse(one)).to.deep.equal(one);
  });

  it("are cached until credentials are set or removed", async () => {
    await set();
    const first = own();
    expect(own()).to.equal(first);
    listed.pop();
    await set(otherKey);
    expect(own()?.voices).to.have.length(2);
    expect(own()?.revision).to.not.equal(first?.revision);
    await service.credentials.remove(website, "gwn", operator);
    expect(own()).to.equal(undefined);
  });

  it("keep their revision when the credentials are reencrypted", async () => {
    await set();
    const rotated = await openCredentialsInstance({
      folder: service.folder,
      keys: [Buffer.alloc(32, 8), Buffer.alloc(32, 7)],
    });
    const before = rotated.ownVoicesOf(website);
    expect(await rotated.credentials.reencrypt(operator)).to.include({ reencrypted: 1 });
    expect(rotated.ownVoicesOf(website)).to.deep.equal(before);
    await rotated.close();
  });
});
