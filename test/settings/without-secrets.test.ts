import { expect } from "chai";
import { settingNames } from "../../src/settings/read-settings.ts";
import { withoutSecrets } from "../../src/settings/without-secrets.ts";

describe("settings without secrets", () => {
  it("leave out tokens, keys and addresses with credentials, and name them", () => {
    const given = {
      PORT: "8080",
      DATA_DIR: "/var/lib/voxledger",
      ADMIN_TOKEN: "a-token-of-an-operator",
      ENGINE_G1: "openai:http://127.0.0.1:9000?key=a-key",
      AUDIO_STORE: "s3://access:a-secret@minio:9000/audio",
      EVENT_STORE: "esdb://admin:a-password@node:2113",
      OPENAI_URL: "https://user:a-password@openai.example",
      AZURE_SPEECH_URL: "",
      PATH: "/usr/bin",
    };
    const { settings, withheld } = withoutSecrets(given);
    expect(settings).to.deep.equal({ PORT: "8080", DATA_DIR: "/var/lib/voxledger" });
    expect([...withheld].sort()).to.deep.equal([
      ...["ADMIN_TOKEN", "AUDIO_STORE", "ENGINE_G1", "EVENT_STORE", "OPENAI_URL"],
    ]);
  });

  it("keep the places of the embedded stores", () => {
    const given = { EVENT_STORE: "sqlite:/x/e.db", AUDIO_STORE: "file:/y" };
    expect(withoutSecrets(given).settings).to.deep.equal(given);
  });

  it("leave out every setting that is named as a token, key or secret", () => {
    const named = settingNames.filter((name) => /TOKEN(?!_TTL)|(?<!PER_)KEY|SECRET|PASSWORD/.test(name));
    const given = Object.fromEntries(named.map((name) => [name, "x"]));
    expect(withoutSecrets(given)).to.deep.equal({ settings: {}, withheld: named });
    expect(named).to.include.members(["MASTER_KEY_PREVIOUS", "SEAL_KEY", "PURGE_TOKEN", "WYOMING_KEY"]);
  });
});
