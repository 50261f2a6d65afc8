import { expect } from "chai";
import { settingNames } from "../../src/settings/read-settings.ts";
import { withoutSecrets } from "../../src/settings/without-secrets.ts";

describe("settings without secrets", () => {
  it("leave out tokens and keys, and name them", () => {
    const given = {
      PORT: "8080",
      DATA_DIR: "/var/lib/voxledger",
      ADMIN_TOKEN: "a-token-of-an-operator",
      ENGINE_G1: "openai:http://127.0.0.1:9000?key=a-key",
      AZURE_SPEECH_URL: "",
      PATH: "/usr/bin",
    };
    const { settings, withheld } = withoutSecrets(given);
    expect(settings).to.deep.equal({ PORT: "8080", DATA_DIR: "/var/lib/voxledger" });
    expect(withheld).to.have.members(["ADMIN_TOKEN", "ENGINE_G1"]);
  });

  it("keep scheme, host and port of addresses, and nothing else of them", () => {
    const given = {
      AUDIO_STORE: "s3://access:a-secret@minio:9000/a-bucket?region=a-region",
      EVENT_STORE: "esdb://admin:a-password@node:2113?tls=false",
      OPENAI_URL: "https://user:a-password@openai.example/a-path",
      PURGE_URL: "http://cache-1/a-path,http://cache-2:6081?key=a-key",
      GOOGLE_TTS_URL: "https:/tts.example/a-path",
    };
    expect(withoutSecrets(given)).to.deep.equal({
      settings: {
        AUDIO_STORE: "s3://minio:9000",
        EVENT_STORE: "esdb://node:2113",
        OPENAI_URL: "https://openai.example",
        PURGE_URL: "http://cache-1,http://cache-2:6081",
        GOOGLE_TTS_URL: "https://tts.example",
      },
      withheld: [],
    });
  });

  it("leave out addresses in which credentials cannot be told from the host", () => {
    const given = {
      EVENT_STORE: "esdb://admin:a-pass/word@node:2113",
      GOOGLE_TTS_URL: "https://user:12/34@host",
      OPENAI_URL: "https://user:12,34@host",
      AZURE_SPEECH_URL: "//user:a-password@host",
      AUDIO_STORE: "a-secret@host",
      PUBLIC_URL: "https:?key=a-key",
    };
    const { settings, withheld } = withoutSecrets(given);
    expect(settings).to.deep.equal({});
    expect(withheld).to.have.members(Object.keys(given));
  });

  it("leave out addresses whose path may end with the rest of a password and the host", () => {
    for (const rest of ["a-secret%40host", "%2540host", "?a=b%40host", "#%40host"]) {
      const given = { EVENT_STORE: `esdb://admin:1/${rest}` };
      expect(withoutSecrets(given)).to.deep.equal({ settings: {}, withheld: ["EVENT_STORE"] });
    }
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
