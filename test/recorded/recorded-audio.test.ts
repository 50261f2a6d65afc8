import { createHash, randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import type { AudioContent, AudioStore } from "../../src/audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { openS3AudioStore } from "../../src/audio/store/s3/s3-audio-store.ts";
import { createLogger } from "../../src/bootstrap/observability.ts";
import { composeService, type Service } from "../../src/bootstrap/service.ts";
import type { AudioFolder } from "../../src/domain/synthesis/recipe.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { admin, authorize, type Credentials, fetchWhenFree } from "../support/client.ts";
import { collect } from "../support/collect.ts";
import { startMinio } from "../support/minio.ts";
import type { S3Server } from "../support/s3-server.ts";
import { shareHelper } from "../support/tool-host.ts";
import { serveProviders, type WireProviders } from "../support/wire/providers.ts";
import { type OpenInstallation, openRecorded, type RecordedAudio } from "./recorded.ts";

interface OpenStore {
  readonly store: AudioStore;
  readonly env: Record<string, string>;
}

const openFiles = async (root: string): Promise<OpenStore> => ({
  store: await openFilesystemAudioStore({ path: root }),
  env: {},
});

/** A bucket with the same objects. */
const openBucket = async (root: string, server: S3Server): Promise<OpenStore> => {
  const place = server.location(`v-${randomUUID()}`);
  const store = await openS3AudioStore(place);
  const files = await openFilesystemAudioStore({ path: root });
  for await (const { names } of files.list(never))
    for (const name of names) await store.put(name, (await files.get(name)) as AudioContent);
  const [user, secret] = [place.accessKey, place.secretKey].map(encodeURIComponent);
  const url = `s3://${user}:${secret}@${place.endpoint}:${place.port}/${place.bucket}?tls=${place.tls}`;
  return { store, env: { AUDIO_STORE: url } };
};

const never = new AbortController().signal;

/** The last version whose names of audio anybody can compute. */
const version = "cf828b1";

for (const kind of ["files", "MinIO"] as const) {
  describe(`the audio of an installation recorded by ${version} (${kind})`, () => {
    let opened: OpenInstallation;
    let now: number;
    let providers: WireProviders;
    let cdn: Server;
    let server: S3Server | undefined;
    let place: OpenStore;
    const purged = new Set<string>();
    let service: Service | undefined;

    before(async () => {
      providers = await serveProviders();
      if (kind === "MinIO") server = await startMinio();
      cdn = createServer((request, response) => {
        purged.add(request.url ?? "");
        response.end();
      });
      await new Promise<void>((resolve) => cdn.listen(0, "127.0.0.1", resolve));
    });
    after(async () => {
      cdn.close();
      await providers.close();
      await server?.stop();
    });
    beforeEach(async () => {
      purged.clear();
      opened = await openRecorded(version, "sqlite");
      now = Date.parse(opened.recorded.at);
      const root = join(opened.env.DATA_DIR ?? "", "audio");
      place = await (server ? openBucket(root, server) : openFiles(root));
    });
    afterEach(async () => {
      await stop();
      await place.store.close();
      await opened.remove();
    });

    const start = async (env: Record<string, string> = {}): Promise<void> => {
      const port = (cdn.address() as AddressInfo).port;
      const purge = { PURGE_URL: `http://127.0.0.1:${port}`, PURGE_TOKEN: "token" };
      // OPENAI_URL stays that of the recording, where no server listens: a request there would
      // fail.
      const azure = { AZURE_SPEECH_URL: providers.msv.url };
      const settings = readSettings({ ...opened.env, ...place.env, ...azure, ...purge, ...env });
      const clock = () => now;
      const machine = { clock, uptime: clock };
      const options = { machine, superviseHelper: shareHelper };
      service = await composeService(settings, createLogger("silent"), options);
    };
    const stop = async (): Promise<void> => {
      await service?.close();
      service = undefined;
    };
    const get = (path: string, headers: Record<string, string> = {}) =>
      fetchWhenFree(`${service?.url}${path}`, { headers });
    const statusOf = async (path: string): Promise<number> => (await get(path)).status;

    const filesIn = async (folder: AudioFolder): Promise<string[]> => {
      const all = await collect(place.store.list(never, folder));
      return all.flatMap(({ names }) => names.map((name) => name.slice(folder.length + 1)));
    };
    const deleted = async (): Promise<void> => {
      while ((await filesIn("audio")).length > 0) await delay(50);
    };

    const locations = (): string[] =>
      opened.recorded.audio.flatMap(({ location, link }) => {
        const [, marks] = /<([^>]+)>/.exec(link ?? "") ?? [];
        return [location, marks].filter((path) => path !== undefined);
      });
    const ask = async ({ apiKey, path }: RecordedAudio) => {
      const websites: readonly Credentials[] = Object.values(opened.recorded.websites);
      const website = websites.find((one) => one.apiKey === apiKey) as Credentials;
      const response = await get(path, authorize(website));
      const bytes = Buffer.from(await response.arrayBuffer());
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      return { status: response.status, headers: response.headers, sha256 };
    };

    it("is deleted from store and CDN if its name was public, and is made again under another name", async () => {
      const hashes = new Set((await filesIn("audio")).map((file) => file.slice(0, 64)));
      expect(hashes.size).to.be.above(5);
      await start();
      await deleted();
      for (const location of locations()) expect(await statusOf(location), location).to.equal(404);
      expect(purged).to.deep.equal(new Set([...hashes].map((hash) => `/audio/${hash}`)));
      const free = opened.recorded.audio.filter(({ location }) => location !== undefined);
      for (const one of free.slice(0, 3)) {
        const { status, headers } = await ask(one);
        expect(status).to.equal(200);
        const location = headers.get("Content-Location") ?? "";
        expect(locations()).not.to.include(location);
        expect(await statusOf(location)).to.equal(200);
      }
    });

    describe("that was paid for", () => {
      const paid = () => opened.recorded.audio.filter(({ location }) => location === undefined);
      const expectSame = async (): Promise<void> => {
        for (const one of paid()) {
          const { status, sha256 } = await ask(one);
          expect({ status, sha256 }).to.deep.equal({ status: 200, sha256: one.sha256 });
        }
      };
      const dayLater = async (): Promise<void> => {
        await stop();
        now += 24 * 60 * 60_000;
        await start();
      };

      it("is found under its former name without asking the provider, and moved a day after the upgrade", async () => {
        expect(new Set(paid().map(({ path }) => path)).size).to.equal(2);
        const former = await filesIn("private");
        await start();
        await expectSame();
        await stop();
        expect(await filesIn("private"), "an instance of the recorded version may need it").to.deep.equal(
          former,
        );
        await dayLater();
        await expectSame();
        await stop();
        const stored = await filesIn("private");
        expect(stored).to.have.length(former.length);
        expect(stored.filter((file) => former.includes(file))).to.have.length(former.length - 2);
        await start();
        await expectSame();
        expect(providers.msv.requests).to.deep.equal([]);
      });

      it("is deleted under its former name too", async () => {
        const ofAzure = paid().find(({ path }) => path.includes("Jenny")) as RecordedAudio;
        const former = await filesIn("private");
        await start();
        const hash = (await ask(ofAzure)).headers.get("ETag")?.replaceAll('"', "") ?? "";
        await admin(service?.url ?? "", "DELETE", `/audio/${hash}`);
        const asked = providers.msv.requests.length;
        expect((await ask(ofAzure)).headers.get("SVC-Cached")).to.equal("miss");
        expect(providers.msv.requests).to.have.length(asked + 1);
        await stop();
        const stored = await filesIn("private");
        expect(former.filter((file) => !stored.includes(file))).to.have.length(1);
        expect(stored).to.include(`${hash}.ogg`);
      });
    });

    it("keeps its addresses until AUDIO_LEGACY_UNTIL, without the words of its marks", async () => {
      const kept = new Set(await filesIn("audio"));
      await start({ AUDIO_LEGACY_UNTIL: "2026-11-09" });
      for (const location of locations()) {
        const response = await get(location);
        expect(response.status, location).to.equal(200);
        const isMarks = location.endsWith(".marks.json");
        if (isMarks)
          expect(await response.text())
            .to.include('"start":')
            .and.not.include('"value"');
        else expect(response.headers.has("Link")).to.equal(locations().includes(marksOf(location)));
      }
      expect(new Set(await filesIn("audio"))).to.deep.equal(kept);
      now = Date.parse("2026-11-09T00:00:00.000Z");
      for (const location of locations()) expect(await statusOf(location), location).to.equal(404);
      await stop();
      await start({ AUDIO_LEGACY_UNTIL: "2026-11-09" });
      await deleted();
    });
  });
}

const marksOf = (location: string): string => location.replace(/\.\w+$/, ".marks.json");
