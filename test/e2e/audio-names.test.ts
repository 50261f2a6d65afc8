import { hash } from "node:crypto";
import { expect } from "chai";
import { authorize, bytesOf, registerWebsite, synthesize } from "../support/client.ts";
import { runCommand } from "../support/command-line.ts";
import { duringSuite, duringTest } from "../support/during.ts";
import {
  type InProcessService,
  startInProcessService,
  startServiceForBrowser,
} from "../support/in-process-service.ts";
import { temporaryFolder } from "../support/service.ts";
import { openToolHost } from "../support/tool-host.ts";

const code = { text: "Your code is 4 8 3 9.", lang: "en-GB" };
const [oldKey, newKey] = [3, 4].map((byte) => Buffer.alloc(32, byte).toString("base64")) as [string, string];

describe("The names of audio", () => {
  const folder = duringTest(temporaryFolder);

  const environment = (more: Record<string, string> = {}) => ({ DATA_DIR: folder.path, ...more });
  const nameFrom = async (service: InProcessService): Promise<string> => {
    const website = await registerWebsite(service.url);
    const response = await synthesize(service.url, website, code);
    expect(response.status, await response.clone().text()).to.equal(200);
    return response.headers.get("Content-Location") ?? "";
  };
  const nameWith = async (env: Record<string, string>): Promise<string> => {
    const service = await startServiceForBrowser(env);
    try {
      return await nameFrom(service);
    } finally {
      await service.close();
    }
  };

  it("cannot be computed by a stranger from the versions of the tools", async () => {
    const host = await openToolHost();
    const { "espeak-ng": espeak, ffmpeg } = host.versions;
    await host.close();
    const prosodyParameters = ["pitch", "rate", "volume"].map((parameter) => [parameter, 1]);
    const tools = `espeak-ng ${espeak}; icu ${process.versions.icu}; ffmpeg ${ffmpeg}`;
    const ofVoice = ["g1", "espeak:gmw/en+f3", "en-GB", code.text];
    // The names of version 0.1.
    const guessed = [5, tools, ...ofVoice, prosodyParameters, "mp3", null];
    const service = await startInProcessService(environment());
    try {
      const name = await nameFrom(service);
      expect((await fetch(service.url + name)).status).to.equal(200);
      const guess = `/audio/${hash("sha256", JSON.stringify(guessed))}.mp3`;
      expect((await fetch(service.url + guess)).status, guess).to.equal(404);
    } finally {
      await service.close();
    }
  });

  it("differ between two installations with the same master key", async () => {
    const name = await nameWith({});
    expect(name).to.match(/^\/audio\/[0-9a-f]{64}\.mp3$/);
    expect(await nameWith({}))
      .to.match(/^\/audio\//)
      .and.not.equal(name);
  });

  it("are the same on instances that start at once, and after a restart", async () => {
    const services = await Promise.all([1, 2, 3].map(() => startServiceForBrowser(environment())));
    try {
      const names = await Promise.all(services.map(nameFrom));
      expect(new Set(names).size, names.join(" ")).to.equal(1);
      await Promise.all(services.map((service) => service.close()));
      expect(await nameWith(environment())).to.equal(names[0]);
    } finally {
      await Promise.all(services.map((service) => service.close()));
    }
  });

  it("stay the same when the master key is replaced, also without the former one", async () => {
    const name = await nameWith(environment({ MASTER_KEY: oldKey }));
    const both = environment({ MASTER_KEY: newKey, MASTER_KEY_PREVIOUS: oldKey });
    expect(await nameWith(both)).to.equal(name);
    const { exitCode, stdout } = await runCommand(both, ["credentials", "reencrypt", "--json"]);
    expect({ exitCode, ...JSON.parse(stdout) }).to.deep.include({
      exitCode: 0,
      reencrypted: 2, // the naming key, and the data key of the first website
      unopened: [],
    });
    expect(await nameWith(environment({ MASTER_KEY: newKey }))).to.equal(name);
  });
});

describe("With AUDIO_SHARING=none, audio", () => {
  const service = duringSuite(() => startInProcessService({ AUDIO_SHARING: "none" }));
  const one = duringSuite(() => registerWebsite(service.url));
  const another = duringSuite(() => registerWebsite(service.url));

  it("that another website requested is neither served nor recognised", async () => {
    const first = await synthesize(service.url, one, code);
    const bytes = await bytesOf(first);
    const tag = first.headers.get("ETag") ?? "";
    expect((await synthesize(service.url, one, code)).headers.get("SVC-Cached")).to.equal("memory");
    const headers = { "If-None-Match": tag };
    const others = await synthesize(service.url, another, code, { headers });
    expect([others.status, others.headers.get("SVC-Cached")]).to.deep.equal([200, "miss"]);
    expect((await bytesOf(others)).equals(bytes)).to.equal(true);
    expect(others.headers.get("ETag")).not.to.equal(tag);
  });

  it("has no permanent URL, and is private to caches", async () => {
    const { headers } = await synthesize(service.url, one, code);
    expect(headers.get("Cache-Control")).to.equal("private, max-age=86400");
    expect([headers.get("Content-Location"), headers.get("Link")]).to.deep.equal([null, null]);
    const hash = headers.get("ETag")?.replaceAll('"', "");
    for (const object of [`${hash}.mp3`, `${hash}.marks.json`])
      expect((await fetch(`${service.url}/audio/${object}`)).status).to.equal(404);
  });

  it("has marks for its website", async () => {
    const url = `${service.url}/elevenlabs/v1/text-to-speech/UK_English_Female/with-timestamps`;
    const response = await fetch(url, {
      method: "POST",
      headers: { ...authorize(one), "Content-Type": "application/json" },
      body: JSON.stringify({ text: "One, two." }),
    });
    const { alignment } = (await response.json()) as { alignment: { characters: string[] } | null };
    expect(alignment?.characters.join("")).to.equal("One, two.");
  });
});
