import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { createLogger } from "../../src/bootstrap/observability.ts";
import { composeService, type Service } from "../../src/bootstrap/service.ts";
import { readSettings } from "../../src/settings.ts";
import { admin, authorize, type Credentials } from "../support/client.ts";
import { until } from "../support/processes.ts";
import { shareHelper } from "../support/tool-host.ts";
import { serveProviders, type WireProviders } from "../support/wire/providers.ts";
import { type OpenInstallation, openRecorded, type RecordedAudio, recordedVersions } from "./recorded.ts";

for (const version of recordedVersions) {
  describe(`the audio of an installation recorded by ${version}`, () => {
    let opened: OpenInstallation;
    let now: number;
    let providers: WireProviders;
    let cdn: Server;
    const purged = new Set<string>();
    let service: Service | undefined;

    before(async () => {
      providers = await serveProviders();
      cdn = createServer((request, response) => {
        purged.add(request.url ?? "");
        response.end();
      });
      await new Promise<void>((resolve) => cdn.listen(0, "127.0.0.1", resolve));
    });
    after(async () => {
      cdn.close();
      await providers.close();
    });
    beforeEach(async () => {
      purged.clear();
      opened = await openRecorded(version, "sqlite");
      now = Date.parse(opened.recorded.at);
    });
    afterEach(async () => {
      await stop();
      await opened.remove();
    });

    const start = async (env: Record<string, string> = {}): Promise<void> => {
      const port = (cdn.address() as AddressInfo).port;
      const purge = { PURGE_URL: `http://127.0.0.1:${port}`, PURGE_TOKEN: "token" };
      // OPENAI_URL stays that of the recording, where no server listens: a request there would fail.
      const azure = { AZURE_SPEECH_URL: providers.msv.url };
      const settings = readSettings({ ...opened.env, ...azure, ...purge, ...env });
      const clock = () => now;
      const machine = { wall: clock, uptime: clock, monotonic: clock };
      const options = { machine, superviseHelper: shareHelper };
      service = await composeService(settings, createLogger("silent"), options);
    };
    const stop = async (): Promise<void> => {
      await service?.close();
      service = undefined;
    };
    const get = (path: string, headers: Record<string, string> = {}) =>
      fetch(`${service?.url}${path}`, { headers });
    const statusOf = async (path: string): Promise<number> => (await get(path)).status;

    const root = (): string => join(opened.env.DATA_DIR ?? "", "audio");
    const filesIn = (folder: string): string[] => {
      if (!existsSync(join(root(), folder))) return [];
      const all = readdirSync(join(root(), folder), { recursive: true, withFileTypes: true });
      return all.filter((entry) => entry.isFile()).map(({ name }) => name);
    };
    const deleted = () => until("the former public audio is deleted", () => filesIn("audio").length === 0);

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
      const hashes = new Set(filesIn("audio").map((file) => file.slice(0, 64)));
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
        const former = filesIn("private");
        await start();
        await expectSame();
        await stop();
        expect(filesIn("private"), "an instance of the recorded version may need it").to.deep.equal(former);
        await dayLater();
        await expectSame();
        await stop();
        const stored = filesIn("private");
        expect(stored).to.have.length(former.length);
        expect(stored.filter((file) => former.includes(file))).to.have.length(former.length - 2);
        await start();
        await expectSame();
        expect(providers.msv.requests).to.deep.equal([]);
      });

      it("is deleted under its former name too", async () => {
        const ofAzure = paid().find(({ path }) => path.includes("Jenny")) as RecordedAudio;
        const former = filesIn("private");
        await start();
        const hash = (await ask(ofAzure)).headers.get("ETag")?.replaceAll('"', "") ?? "";
        await admin(service?.url ?? "", "DELETE", `/audio/${hash}`);
        const asked = providers.msv.requests.length;
        expect((await ask(ofAzure)).headers.get("SVC-Cached")).to.equal("miss");
        expect(providers.msv.requests).to.have.length(asked + 1);
        await stop();
        const stored = filesIn("private");
        expect(former.filter((file) => !stored.includes(file))).to.have.length(1);
        expect(stored).to.include(`${hash}.ogg`);
      });
    });

    it("keeps its addresses until AUDIO_LEGACY_UNTIL, without the words of its marks", async () => {
      const kept = new Set(filesIn("audio"));
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
      expect(new Set(filesIn("audio"))).to.deep.equal(kept);
      now = Date.parse("2026-11-09T00:00:00.000Z");
      for (const location of locations()) expect(await statusOf(location), location).to.equal(404);
      await stop();
      await start({ AUDIO_LEGACY_UNTIL: "2026-11-09" });
      await deleted();
    });
  });
}

const marksOf = (location: string): string => location.replace(/\.\w+$/, ".marks.json");
