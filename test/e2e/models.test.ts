import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { bytesOf, type Credentials, registerWebsite, synthesize } from "../support/client.ts";
import { duringSuite } from "../support/during.ts";
import { type InProcessService, startInProcessService } from "../support/in-process-service.ts";
import { packNames, placePacks } from "../support/models.ts";
import { temporaryFolder } from "../support/service.ts";
import { wordAt } from "../support/word-at.ts";

const text = "hello world.";

describe("A free engine with models on this machine", () => {
  /** Instances that share a log name audio alike. */
  const log = duringSuite(temporaryFolder);
  const packs = duringSuite(() => placePacks("piper", "kokoro", "characters", "broken"));
  const intact = duringSuite(() => placePacks("kokoro"));
  let service: InProcessService;
  let website: Credentials;

  const start = (env: Record<string, string>) =>
    startInProcessService({ EVENT_STORE: `sqlite:${join(log.path, "events.db")}`, ...env });

  before(async () => {
    // It can be read, but not loaded.
    await writeFile(join(packs.path("kokoro"), "voices.bin"), "too short");
    service = await start({ MODELS_DIR: packs.folder, MODEL_THREADS: "1" });
    website = await registerWebsite(service.url);
  });
  after(async () => {
    await service.close();
  });

  const speak = async (query: Record<string, string>, at = { service, website }) => {
    const response = await synthesize(at.service.url, at.website, query);
    return { response, sound: await bytesOf(response) };
  };
  const get = async (path: string) => {
    const headers = { "X-API-Key": website.apiKey, "X-API-Secret": website.apiSecret };
    return (await (await fetch(`${service.url}${path}`, { headers })).json()) as Record<string, unknown>;
  };

  it("has their voices in the catalog", async () => {
    const { voice } = await get("/v2/voices/Tiny%20(en-US)");
    expect(voice).to.deep.include({ lang: "en-US", gender: "f", flag: "us", provider: "sherpa-onnx" });
  });

  it("speaks with their voices, and reports the prosody that it applies", async () => {
    const { response, sound } = await speak({ text, voice: "Tiny (en-US)", rate: "1.5", pitch: "1.5" });
    expect(response.status).to.equal(200);
    expect(response.headers.get("svc-prosody-applied")).to.equal("rate,volume");
    expect(sound.length).to.be.above(1_000);
  });

  it("prefers them to its other voices of the language", async () => {
    const byLanguage = await speak({ text, lang: "de-DE" });
    const byName = await speak({ text, voice: "Vits-tiny-de DE 0 (de-DE)" });
    expect(byLanguage.response.headers.get("content-location")).to.equal(
      byName.response.headers.get("content-location"),
    );
  });

  it("speaks with its other voices in place of a model that ends its process, and names the model in health", async () => {
    const { response, sound } = await speak({ text, voice: "Bella (en-US)" });
    expect(response.status).to.equal(200);
    expect(response.headers.get("cache-control")).to.equal("public, max-age=60");
    expect(sound.length).to.be.above(1_000);
    const { status, parts } = (await get("/health")) as {
      status: string;
      parts: Record<string, { status: string; detail: string }>;
    };
    expect(status).to.equal("degraded");
    expect(parts.models?.status).to.equal("down");
    expect(parts.models?.detail)
      .to.include(`${packNames.broken}: The model lacks metadata: sample_rate.`)
      .and.to.include(`${packNames.kokoro}: `);
  });

  it("marks the sentences of a text", async () => {
    const text = "One is here. Two follows.";
    const { response } = await speak({ text, voice: "Tiny (en-US)" });
    const [, path = ""] = /<([^>]+)>; rel="describedby"/.exec(response.headers.get("link") ?? "") ?? [];
    const marks = (await (await fetch(new URL(path, service.url))).text()).trim().split("\n");
    expect(marks.map((line) => wordAt(text, JSON.parse(line)))).to.deep.equal([
      "One is here.",
      "Two follows.",
    ]);
  });

  it("has the same bytes under the same name on every instance, and another name with other threads where bytes are exact", async () => {
    const instances = await Promise.all(
      ["1", "2"].map(async (threads) => {
        const other = await start({
          ENGINE_G1: `sherpa:${packs.path("piper")}`,
          ENGINE_G2: `sherpa:${intact.path("kokoro")}`,
          MODEL_THREADS: threads,
          MODELS_PRELOAD: "true",
        });
        return { service: other, website: await registerWebsite(other.url) };
      }),
    );
    try {
      const query = { text: "the same bytes.", voice: "Tiny (en-US)" };
      const own = await speak(query);
      const [same, different] = await Promise.all(instances.map((instance) => speak(query, instance)));
      const nameOf = (one: typeof own | undefined) => one?.response.headers.get("content-location");
      expect(nameOf(same)).to.equal(nameOf(own));
      expect(same?.sound.equals(own.sound)).to.equal(true);
      expect(nameOf(different)).to.not.equal(nameOf(own));
      const inexact = { text: "the first sound is kept.", voice: "Bella (en-US)" };
      const [one, other] = await Promise.all(instances.map((instance) => speak(inexact, instance)));
      expect(one?.response.headers.get("cache-control")).to.include("max-age=86400");
      expect(nameOf(one)).to.equal(nameOf(other));
    } finally {
      await Promise.all(instances.map(({ service }) => service.close()));
    }
  });
});
