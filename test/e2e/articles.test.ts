import { join } from "node:path";
import { expect } from "chai";
import type { Command } from "commander";
import { composeAuditProof } from "../../src/bootstrap/commands/audit-proof.ts";
import { registerAuditProofCommands } from "../../src/cli/commands/audit-proof.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { type ArticleResponse, prepareArticle, urlsOf } from "../support/articles.ts";
import { admin, bytesOf, type Credentials, registerWebsite } from "../support/client.ts";
import { runCommand } from "../support/command-line.ts";
import { duringTest } from "../support/during.ts";
import { startEventStoreDBNode } from "../support/eventstoredb-node/node.ts";
import { adminToken, masterKey, type RunningService, startInstance } from "../support/instance.ts";
import { temporaryFolder } from "../support/service.ts";

const texts = Array.from(
  { length: 5 },
  (_, n) => `This is paragraph ${n} of an article that many people read.`,
);
const characters = texts.join("").length;

for (const kind of ["SQLite", "EventStoreDB"] as const) {
  describe(`an article of several processes (${kind})`, () => {
    const folder = duringTest(temporaryFolder);
    let env: Record<string, string>;
    let services: RunningService[];
    let stopStore: () => Promise<void>;

    beforeEach(async () => {
      services = [];
      stopStore = async () => {};
      env = { DATA_DIR: join(folder.path, "data"), MASTER_KEY: masterKey, ADMIN_TOKEN: adminToken };
      if (kind === "SQLite") return;
      const node = await startEventStoreDBNode({ dataFile: join(folder.path, "log") });
      env = { ...env, EVENT_STORE: node.url };
      stopStore = node.close;
    });
    afterEach(async () => {
      for (const service of services) await service.stop();
      await stopStore();
    });

    const start = async (more = {}): Promise<RunningService> => {
      const service = await startInstance(env.DATA_DIR ?? "", { ...env, ...more });
      services.push(service);
      return service;
    };
    /** Each request has a connection of its own, so that any process may get it. */
    const pull = async (url: string): Promise<number> => {
      const response = await fetch(url, { headers: { Connection: "close" } });
      const { length } = await bytesOf(response);
      if (response.status === 200) expect(length).to.be.greaterThan(0);
      return response.status;
    };
    /** The same address at another instance. */
    const at = ({ url }: RunningService, address: string): string => {
      const { pathname, search } = new URL(address);
      return url + pathname + search;
    };
    const usageOf = async ({ url }: RunningService, { apiKey }: Credentials) => {
      const { body } = await admin(url, "GET", `/keys/${apiKey}/usage`);
      return { requests: body.requests, characters: body.characters };
    };
    const verifyLog = async (): Promise<void> => {
      const { exitCode, stdout, stderr } = await runCommand(env, ["audit", "verify"], (program: Command) =>
        registerAuditProofCommands(
          program,
          composeAuditProof(() => readSettings(env)),
        ),
      );
      expect({ exitCode, stderr }, stdout).to.deep.equal({ exitCode: 0, stderr: "" });
    };

    it("is charged once for 50 readers, who pull its parts from the other instance", async () => {
      const instances = [await start(), await start()] as const;
      const website = await registerWebsite(instances[0].url, { monthlyCharacters: characters });
      await instances[1].kept();
      const read = async (reader: number): Promise<ArticleResponse> => {
        const [one, other] = reader % 2 === 0 ? instances : instances.toReversed();
        const article = await prepareArticle((one as RunningService).url, website, texts);
        const urls = urlsOf(article).map((url) => at(other as RunningService, url));
        expect(urls).to.have.length(texts.length);
        for (const url of urls) expect(await pull(url)).to.equal(200);
        return article;
      };
      await Promise.all(Array.from({ length: 50 }, (_, reader) => read(reader)));
      for (const instance of instances)
        expect(await usageOf(instance, website)).to.deep.equal({ requests: texts.length, characters });
      for (const service of services.splice(0)) expect(await service.stop()).to.equal(0);
      await verifyLog();
    });

    it("is charged once if the process is killed after its response, and read later", async () => {
      const first = await start();
      const website = await registerWebsite(first.url);
      await prepareArticle(first.url, website, texts);
      services = [];
      await first.kill();
      const second = await start();
      const article = await prepareArticle(second.url, website, texts);
      for (const url of urlsOf(article)) expect(await pull(url)).to.equal(200);
      expect(await usageOf(second, website)).to.deep.equal({ requests: texts.length, characters });
      services = [];
      expect(await second.stop()).to.equal(0);
      await verifyLog();
    });

    it("is pulled from any worker while another one speaks it", async () => {
      const service = await start({ WORKERS: "2" });
      const website = await registerWebsite(service.url);
      const article = await prepareArticle(service.url, website, texts);
      const pulled = urlsOf(article).flatMap((url) => Array.from({ length: 6 }, () => pull(url)));
      expect(new Set(await Promise.all(pulled))).to.deep.equal(new Set([200]));
      const again = await Promise.all(
        Array.from({ length: 6 }, () => prepareArticle(service.url, website, texts)),
      );
      for (const { total } of again) expect(total).to.include({ characters, exact: true });
      expect(await usageOf(service, website)).to.deep.equal({ requests: texts.length, characters });
    });
  });
}
