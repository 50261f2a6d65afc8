import { createSecretKey } from "node:crypto";
import { expect } from "chai";
import type { ActingKey } from "../../../src/application/access/principal.ts";
import { createAudioAddresses } from "../../../src/application/articles/audio-addresses.ts";
import type { Engine } from "../../../src/engines/engine.ts";
import { testPrincipal } from "../../support/principal.ts";

const hourMs = 60 * 60_000;
const start = Date.parse("2026-11-21T10:20:00.000Z");
const object = `${"ab".repeat(32)}.mp3`;
const publicName = `public/${object}`;
const privateName = `private/${object}`;

describe("the addresses of articles", () => {
  let now: number;
  let key: ActingKey | undefined;
  let engines: string[];

  beforeEach(() => {
    now = start;
    key = testPrincipal();
    engines = ["gwn"];
  });

  const addressesOf = (secret: number) =>
    createAudioAddresses({
      namingKey: createSecretKey(Buffer.alloc(32, secret)),
      findActiveKey: (apiKey) => (apiKey === key?.apiKey ? key : undefined),
      findEngine: (code) => (engines.includes(code) ? ({} as Engine) : undefined),
      clock: () => now,
    });
  const addresses = addressesOf(1);
  const promised = { name: publicName, isPromised: true };
  const unknown = { name: publicName, isPromised: false };

  it("are the same for all readers of public audio, at any time and of any key", () => {
    const first = addresses.sign(publicName, "k", "g1");
    now += 1_000 * hourMs;
    expect(addressesOf(1).sign(publicName, "other", "g1")).to.deep.equal(first);
    expect(addresses.open(object, first)).to.deep.equal(promised);
  });

  it("promise public audio only with the signature of this installation and of this object", () => {
    const query = addresses.sign(publicName, "k", "g1");
    for (const other of [
      {},
      { signature: "" },
      { signature: `${query.signature}x` },
      addressesOf(2).sign(publicName, "k", "g1"),
      addresses.sign(`public/${object.replace("mp3", "ogg")}`, "k", "g1"),
      addresses.sign(privateName, "k", "gwn"),
    ])
      expect(addresses.open(object, { ...other, key: undefined })).to.deep.equal(unknown);
  });

  it("open private audio for a day, and are the same within an hour", () => {
    const query = addresses.sign(privateName, "k", "gwn");
    now += 30 * 60_000;
    expect(addresses.sign(privateName, "k", "gwn")).to.deep.equal(query);
    now = start + 23 * hourMs;
    expect(addresses.open(object, query)).to.deep.equal({ name: privateName, isPromised: true });
    now = start + 24 * hourMs;
    expect(addresses.open(object, query)).to.deep.equal(unknown);
  });

  it("open private audio only as they were signed", () => {
    const query = addresses.sign(privateName, "k", "gwn");
    for (const change of [
      { signature: addresses.sign(publicName, "k", "g1").signature },
      { key: "other" },
      { engine: "oai" },
      { expires: String(Number(query.expires) + 3_600) },
      { expires: undefined },
    ])
      expect(addresses.open(object, { ...query, ...change })).to.deep.equal(unknown);
  });

  it("open no private audio of a key that is suspended or ended, or of removed credentials", () => {
    const query = addresses.sign(privateName, "k", "gwn");
    engines = [];
    expect(addresses.open(object, query)).to.deep.equal(unknown);
    engines = ["gwn"];
    key = undefined;
    expect(addresses.open(object, query)).to.deep.equal(unknown);
  });
});
