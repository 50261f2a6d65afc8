import { expect } from "chai";
import {
  type CredentialsEvent,
  evolveCredentials,
  initialCredentials,
  reencryptCredentials,
  removeCredentials,
  setCredentials,
  usableVoices,
} from "../../../src/domain/accounts/credentials.ts";
import { Invalid, NotFound } from "../../../src/domain/errors.ts";

const at = "2026-03-01T12:00:00.000Z";
const later = "2026-03-02T12:00:00.000Z";
const voices = [{ name: "en-US-Neural2-C", lang: "en-US", gender: "f" }] as const;
const facts = { engine: "gwn", provider: "google", ciphertext: "v1.one", keyId: "k1", voices, at } as const;
const set = (changes = {}): CredentialsEvent => ({ type: "CredentialsSet", data: { ...facts, ...changes } });
const removed: CredentialsEvent = { type: "CredentialsRemoved", data: { engine: "gwn", at: later } };
const given = (...events: CredentialsEvent[]) => events.reduce(evolveCredentials, initialCredentials());

describe("a website's credentials", () => {
  it("are set with the voices that the provider listed", () => {
    expect(setCredentials(given(), facts)).to.deep.equal([set()]);
    expect(given(set()).byEngine.gwn).to.deep.equal({
      provider: "google",
      ciphertext: "v1.one",
      keyId: "k1",
      voices,
      setAt: at,
      revision: 1,
    });
  });

  it("replace earlier credentials of the same engine only", () => {
    const { byEngine } = given(
      set(),
      set({ engine: "msv", ciphertext: "v1.azure" }),
      set({ ciphertext: "v1.two", at: later }),
    );
    expect(byEngine.gwn).to.deep.include({ ciphertext: "v1.two", setAt: later });
    expect(byEngine.msv?.ciphertext).to.equal("v1.azure");
  });

  it("get a new revision each time they are set, also after a removal", () => {
    const first = given(set()).byEngine.gwn?.revision;
    const second = given(set(), removed, set()).byEngine.gwn?.revision;
    expect([first, second]).to.deep.equal([1, 2]);
  });

  it("are recorded again when they are unchanged, since the provider's voices were listed again", () => {
    expect(setCredentials(given(set()), facts)).to.deep.equal([set()]);
  });

  it("keep their revision and their voices when they are reencrypted", () => {
    const reencrypted = {
      engine: "gwn",
      was: "v1.one",
      ciphertext: "v1.reencrypted",
      keyId: "k2",
      at: later,
    } as const;
    const events = reencryptCredentials(given(set()), reencrypted);
    expect(events).to.deep.equal([
      {
        type: "CredentialsReencrypted",
        data: { engine: "gwn", ciphertext: "v1.reencrypted", keyId: "k2", at: later },
      },
    ]);
    expect(given(set(), ...events).byEngine.gwn).to.deep.equal({
      ...given(set()).byEngine.gwn,
      ciphertext: "v1.reencrypted",
      keyId: "k2",
    });
  });

  it("are not reencrypted if they were replaced or removed meanwhile", () => {
    const reencrypted = {
      engine: "gwn",
      was: "v1.one",
      ciphertext: "v1.reencrypted",
      keyId: "k2",
      at: later,
    } as const;
    expect(reencryptCredentials(given(set({ ciphertext: "v1.two" })), reencrypted)).to.deep.equal([]);
    expect(reencryptCredentials(given(set(), removed), reencrypted)).to.deep.equal([]);
  });

  it("are removed only if they are set", () => {
    const events = removeCredentials(given(set()), { engine: "gwn", at: later });
    expect(events).to.deep.equal([removed]);
    expect(given(set(), removed).byEngine).to.deep.equal({});
    for (const none of [given(), given(set(), removed), given(set({ engine: "oai" }))]) {
      expect(() => removeCredentials(none, { engine: "gwn", at: later })).to.throw(NotFound, "gwn");
    }
  });

  it("do not change on events of other engines or of unknown types", () => {
    const reencrypted: CredentialsEvent = {
      type: "CredentialsReencrypted",
      data: { engine: "oai", ciphertext: "v1.x", keyId: "k2", at },
    };
    const unknown = { type: "CredentialsLent", data: {} } as unknown as CredentialsEvent;
    expect(given(set(), reencrypted, unknown)).to.deep.equal(given(set()));
  });
});

describe("a provider's voices", () => {
  const voice = (name: string, lang?: string) => ({ name, lang, gender: "f" as const });

  it("keep the provider's names, languages and order", () => {
    expect(usableVoices([voice("b", "de-DE"), voice("alloy"), voice("a", "en-US")])).to.deep.equal([
      { name: "b", lang: "de-DE", gender: "f" },
      { name: "alloy", gender: "f" },
      { name: "a", lang: "en-US", gender: "f" },
    ]);
  });

  it("are listed without duplicates", () => {
    expect(usableVoices([voice("a", "en-US"), voice("a", "en-GB")])).to.deep.equal([
      { name: "a", lang: "en-US", gender: "f" },
    ]);
  });

  it("are left out if the catalog could not contain them", () => {
    const unfit = [voice("a/b"), voice(""), voice("x".repeat(101)), voice("a\nb"), voice("a", "no language")];
    expect(usableVoices([...unfit, voice("alloy")])).to.deep.equal([{ name: "alloy", gender: "f" }]);
    expect(() => usableVoices(unfit)).to.throw(Invalid, "no voice");
    expect(() => usableVoices([])).to.throw(Invalid, "no voice");
  });

  it("have a limit that fits any provider's list and one event", () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, i) => voice(`en-US-Chirp3-HD-Voice-${i}`, "en-US"));
    const event = set({ voices: usableVoices(many(10_000)), ciphertext: "x".repeat(40_000) });
    expect(JSON.stringify(event).length).to.be.below(1024 * 1024);
    expect(() => usableVoices(many(20_000))).to.throw(Invalid, "more voices");
  });
});
