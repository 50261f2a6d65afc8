import { expect } from "chai";
import { createCommandHandler } from "../../../../src/eventstore/command-handler.ts";
import { usageOperation } from "../../../../src/http/routes/admin/ledger/usage-and-audit.ts";
import { createUsageReader } from "../../../../src/ledger/accounts/usage-reader.ts";
import { createJournalRegistry } from "../../../../src/ledger/journal/journal-registry.ts";
import { createUsageReport, type UsageReport } from "../../../../src/ledger/reports/usage-report.ts";
import { createJournalAppender } from "../../../support/append-to-journal.ts";
import { synthesesServed } from "../../../support/build-journal-events.ts";
import { duringTest } from "../../../support/during.ts";
import { append, issued } from "../../../support/logged-events.ts";
import { type OperationServer, serveOperations } from "../../../support/operation-server.ts";
import { openTemporaryStore } from "../../../support/temporary-store.ts";

describe("GET /admin/keys/{apiKey}/usage", () => {
  const temporary = duringTest(openTemporaryStore);
  let server: OperationServer;
  let positions: number[];

  beforeEach(async () => {
    const { store } = temporary;
    await append(store, issued("ab"));
    const log = createJournalAppender(store);
    await createJournalRegistry(createCommandHandler({ store }), Date.now).open(log.journal);
    positions = [];
    for (const at of ["2026-11-05T10:00:00.000Z", "2026-11-06T10:00:00.000Z"]) {
      const { position } = await log.append(synthesesServed(at, [{ apiKey: "ab", characters: 5 }]));
      positions.push(position);
    }
    const reportUsage = createUsageReport({ store, accounts: createUsageReader({ store }) });
    server = await serveOperations([usageOperation({ reportUsage })]);
  });

  afterEach(async () => {
    await server.close();
  });

  const get = async (path: string) => {
    const response = await fetch(`${server.url}/admin/keys/${path}`);
    return { status: response.status, body: (await response.json()) as Body };
  };

  it("returns the totals of the month", async () => {
    const { status, body } = await get("ab/usage?month=2026-11");
    expect(status).to.equal(200);
    expect(body).to.deep.include({
      apiKey: "ab",
      month: "2026-11",
      characters: 10,
      requests: 2,
      quota: 1_000_000,
    });
    expect(body.byDay).to.deep.equal([
      { day: "2026-11-05", requests: 1, characters: 5 },
      { day: "2026-11-06", requests: 1, characters: 5 },
    ]);
  });

  it("returns the totals as of a given time", async () => {
    const { body } = await get("ab/usage?asOf=2026-11-06");
    expect(body).to.include({
      month: "2026-11",
      asOf: "2026-11-06T00:00:00.000Z",
      characters: 5,
      requests: 1,
    });
  });

  it("returns the totals as of a given position", async () => {
    const { body } = await get(`ab/usage?asOfPosition=${positions[0]}`);
    expect(body).to.include({
      month: "2026-11",
      asOf: "2026-11-05T10:00:00.000Z",
      asOfPosition: positions[0],
      finalUntil: "2026-11-05T09:57:50.000Z",
      characters: 5,
    });
  });

  it("returns 400 with its path for an invalid month or time", async () => {
    for (const [query, path] of [
      ["month=2026-13", "month"],
      ["asOf=soon", "asOf"],
      ["asOfPosition=-1", "asOfPosition"],
      ["asOfPosition=999999", "asOfPosition"],
      ["month=2026-11&month=2026-12", "month"],
    ]) {
      const { status, body } = await get(`ab/usage?${query}`);
      expect(status).to.equal(400);
      expect(body.error.errors[0]?.path).to.deep.equal([path]);
    }
  });

  it("returns 404 for an unknown key", async () => {
    expect((await get("abc/usage")).status).to.equal(404);
  });
});

interface Body extends UsageReport {
  readonly error: { readonly errors: readonly { readonly path: readonly string[] }[] };
}
