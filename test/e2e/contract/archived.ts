import { join } from "node:path";
import { expect } from "chai";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { openNewJournal, writeOldJournals } from "../../ledger/archive/old-journals.ts";
import { sealing } from "../../ledger/proof/sealed-store.ts";
import { runCli } from "../../support/cli-process.ts";
import { admin } from "../../support/client.ts";
import { openExchange } from "../../support/exchange.ts";
import { startInstance } from "../../support/instance.ts";
import { temporaryFolder } from "../../support/service.ts";
import { auditor, type DescribedApi, operator } from "./described-service.ts";

/** The journals were recorded at this time, which is more than 90 days ago. */
const start = "2026-01-05T10:00:00.000Z";
/** Between two servings of a posting. */
const between = "2026-01-05T10:00:07Z";

/** Starts a service whose log has had its journals archived and deleted. */
const openArchived = async () => {
  await using opened = new AsyncDisposableStack();
  const folder = await temporaryFolder();
  opened.defer(folder.remove);
  const store = await openSqliteEventStore({
    path: join(folder.path, "events.db"),
    clock: () => Date.parse(start),
  });
  const { log, seals, ...others } = sealing(store, start);
  const registered = { websiteId: "w1", name: "example.com", origins: [] };
  await log.append("website-w1", "WebsiteRegistered", registered);
  // The key of seals is that of the installation, and not that of the tests.
  await writeOldJournals({ ...others, log, seals: { ...seals, seal: async () => ({}) as never } });
  await openNewJournal(store);
  await store.close();
  const file = join(folder.path, "2026-01.ndjson");
  const archive = ["archive", "--before", "2026-02", "--delete", file];
  const { exitCode, stderr } = await runCli(archive, { DATA_DIR: folder.path });
  expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: "" });
  const service = await startInstance(folder.path, { AUDITOR_TOKEN: auditor.Authorization.slice(7) });
  opened.defer(async () => void (await service.stop()));
  const connection = openExchange(service.url);
  opened.defer(async () => connection.close());
  const { body } = await admin(service.url, "POST", "/keys/k1/secrets");
  const owner = { "X-API-Key": "k1", "X-API-Secret": String(body.apiSecret) };
  const running = opened.move();
  return { owner, exchange: connection.exchange, [Symbol.asyncDispose]: () => running.disposeAsync() };
};

/** Part of contract.test.ts, which counts the responses of all parts. */
export const archivedResponses = ({ rule, validated }: DescribedApi): void => {
  describe("matches the refusals of reports", () => {
    rule("that need servings which were deleted after they were archived", async () => {
      await using archived = await openArchived();
      const ask = validated(archived.exchange);
      const seconds = Date.parse(start) / 1_000;
      const hours = `start_time=${seconds - (seconds % 3_600)}&bucket_width=1h`;
      const requests: readonly (readonly [string, Record<string, string>])[] = [
        ["/admin/audit", auditor],
        ["/admin/events?from=2026-01-01&to=2026-02-01", auditor],
        ["/admin/events/counts?from=2026-01-05&to=2026-01-06", operator],
        ["/admin/keys/k1/proof?month=2026-01", auditor],
        [`/admin/keys/k1/usage?month=2026-01&asOf=${between}`, operator],
        ["/admin/sounds?from=2026-01-01&to=2026-01-31", operator],
        [`/admin/sounds/${"5".repeat(64)}?from=2026-01-01&to=2026-01-31`, operator],
        [`/v2/usage?month=2026-01&asOf=${between}`, archived.owner],
        [`/openai/v1/organization/usage/audio_speeches?${hours}`, operator],
      ];
      for (const [path, headers] of requests) {
        const { status, body } = await ask({ method: "GET", path, headers });
        expect(status, `${path}: ${body.subarray(0, 300)}`).to.equal(410);
      }
      const { status } = await ask({
        method: "GET",
        path: "/admin/keys/k1/usage?month=2026-01",
        headers: operator,
      });
      expect(status).to.equal(200);
    });
  });
};
