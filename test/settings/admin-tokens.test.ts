import { expect } from "chai";
import { BadSetting, readSettings } from "../../src/settings/read-settings.ts";

const token = (letter: string): string => letter.repeat(16);

describe("the tokens of the admin API", () => {
  it("are one token without a name, or several with names", () => {
    expect(readSettings({ ADMIN_TOKEN: token("a") }).adminTokens).to.deep.equal([
      { name: undefined, token: token("a") },
    ]);
    expect(
      readSettings({ AUDITOR_TOKEN: `Alice=${token("a")}, bob-2.x=${token("b")}==,${token("c")}` })
        .auditorTokens,
    ).to.deep.equal([
      { name: "Alice", token: token("a") },
      { name: "bob-2.x", token: `${token("b")}==` },
      { name: undefined, token: token("c") },
    ]);
  });

  it("may be the base64 of 32 bytes, without a name", () => {
    const base64 = Buffer.alloc(32, 107).toString("base64");
    expect(readSettings({ ADMIN_TOKEN: base64 }).adminTokens).to.deep.equal([
      { name: undefined, token: base64 },
    ]);
  });

  it("may be two of one name, or two without a name, so that one replaces the other", () => {
    const settings = {
      ADMIN_TOKEN: `${token("a")},${token("b")}`,
      AUDITOR_TOKEN: `alice=${token("c")},bob=${token("d")},alice=${token("e")}`,
    };
    const { adminTokens, auditorTokens } = readSettings(settings);
    expect(adminTokens.map(({ name }) => name)).to.deep.equal([undefined, undefined]);
    expect(auditorTokens).to.deep.equal([
      { name: "alice", token: token("c") },
      { name: "bob", token: token("d") },
      { name: "alice", token: token("e") },
    ]);
  });

  it("are empty by default", () => {
    expect(readSettings({})).to.deep.include({ adminTokens: [], auditorTokens: [] });
  });

  const refused: Readonly<Record<string, string>> = {
    "a token of 15 characters": token("a").slice(1),
    "a name without a token": "alice-the-auditor=",
    "a name with padding instead of a token": "alice-the-auditor==",
    "a short token of a name": `alice=${token("a")},bob=short`,
    "an empty entry": `${token("a")},`,
    "a token with `=` inside": `${token("a")}+=${token("b")}`,
    "a token of 300 characters": "a".repeat(300),
    "three tokens without a name": `${token("a")},${token("b")},${token("c")}`,
    "three tokens of one name": `alice=${token("a")},alice=${token("b")},alice=${token("c")}`,
    "a token twice": `alice=${token("a")},alice=${token("a")}`,
    "one token for two names": `alice=${token("a")},bob=${token("a")}`,
    "101 tokens": Array.from({ length: 101 }, (_, index) => `n${index}=${token("a")}${index}`).join(),
  };
  for (const [what, value] of Object.entries(refused)) {
    it(`refuse ${what}, without repeating the value`, () => {
      expect(() => readSettings({ AUDITOR_TOKEN: value }))
        .to.throw(BadSetting, /^AUDITOR_TOKEN: must /)
        .with.property("message")
        .that.does.not.match(/alice|bob|aaa|short/);
    });
  }

  it("refuse a token that has both roles", () => {
    const env = { ADMIN_TOKEN: token("a"), AUDITOR_TOKEN: `bob=${token("b")},alice=${token("a")}` };
    expect(() => readSettings(env)).to.throw(
      BadSetting,
      "AUDITOR_TOKEN: must not repeat a token of ADMIN_TOKEN",
    );
  });
});
