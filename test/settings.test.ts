import { expect } from "chai";
import { BadSetting, readSettings } from "../src/settings.ts";

describe("settings", () => {
  it("have a default for everything", () => {
    const settings = readSettings({});
    expect(settings).to.deep.include({
      host: "127.0.0.1",
      port: 8080,
      headerPrefix: "SVC",
      maxTextCharacters: 4000,
    });
    expect(settings.eventStore).to.deep.equal({ kind: "sqlite", path: "data/events.db" });
    expect(settings.audioStore).to.deep.equal({ kind: "file", path: "data/audio" });
  });

  it("leave the burst limit to the plan unless it is set", () => {
    expect(readSettings({}).burstLimit).to.equal(undefined);
    expect(readSettings({ BURST_LIMIT: "5" }).burstLimit).to.equal(5);
  });

  it("take an empty variable for one that is not set", () => {
    expect(readSettings({ PORT: "", ADMIN_TOKEN: "" })).to.include({ port: 8080, adminToken: undefined });
  });

  it("let the stores lie elsewhere", () => {
    const { eventStore, audioStore } = readSettings({
      EVENT_STORE: "sqlite:/x/e.db",
      AUDIO_STORE: "file:/y",
    });
    expect([eventStore.path, audioStore.path]).to.deep.equal(["/x/e.db", "/y"]);
  });

  it("take a public address without its last slash", () => {
    expect(readSettings({ PUBLIC_URL: "https://tts.example/" }).publicUrl).to.equal("https://tts.example");
  });

  for (const [name, value] of [
    ["PORT", "http"],
    ["PORT", "70000"],
    ["PUBLIC_URL", "ftp://x"],
    ["EVENT_STORE", "mysql:x"],
    ["AUDIO_STORE", "x"],
    ["ADMIN_TOKEN", "short"],
    ["ADMIN_TOKEN", "sixteen and more, with spaces"],
    ["ADMIN_TOKEN", "a-token-with-an-\u00e9-in-it"],
    ["PUBLIC_URL", "https://user@tts.example"],
    ["PUBLIC_URL", "https://:secret@tts.example"],
    ["PUBLIC_URL", "https://tts.example/?a=b"],
    ["PUBLIC_URL", "https://tts.example/#"],
    ["MASTER_KEY", "dG9vIHNob3J0"],
    ["TRUST_PROXY", "10.0.0.0/33"],
    ["TRUST_PROXY", "proxy.local"],
    ["HEADER_PREFIX", "X Y"],
    ["MAX_TEXT_CHARACTERS", "0"],
    ["LOG_LEVEL", "loud"],
    ["OPENAI_URL", "nowhere"],
  ] as const) {
    it(`refuse ${name}=${value} in one line that names it`, () => {
      expect(() => readSettings({ [name]: value }))
        .to.throw(BadSetting, new RegExp(`^${name}: `))
        .with.property("message")
        .that.does.not.include("\n");
    });
  }

  it("never repeat a secret in a refusal", () => {
    expect(() => readSettings({ MASTER_KEY: "s3cr3t-value!!" }))
      .to.throw(BadSetting)
      .with.property("message")
      .that.does.not.include("s3cr3t");
  });
});
