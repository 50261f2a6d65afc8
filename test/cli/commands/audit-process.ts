// Runs the command line in a separate process over the event store of the first argument.

import type { Services } from "../../../src/cli/command.ts";
import { createProgram, run } from "../../../src/cli/program.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { createUsageReader } from "../../../src/ledger/accounts/usage-reader.ts";
import { createAudit } from "../../../src/ledger/audit/audit.ts";
import { createChargeReader } from "../../../src/ledger/reports/charges-between.ts";
import { createDailyUsage } from "../../../src/ledger/reports/daily-usage.ts";
import { createReportQueue } from "../../../src/ledger/reports/report-queue.ts";
import { createUsageBuckets } from "../../../src/ledger/reports/usage-buckets.ts";
import { createUsageReport } from "../../../src/ledger/reports/usage-report.ts";

const [path = "", ...args] = process.argv.slice(2);
const store = await openSqliteEventStore({ path });
const reportUsage = createUsageReport({ store, accounts: createUsageReader({ store }) });
const reportUsageBuckets = createUsageBuckets({
  readCharges: createChargeReader({ store }),
  queue: createReportQueue(),
  keys: () => ["ab", "abc"].map((apiKey) => ({ apiKey, websiteId: "w1" })),
  clock: Date.now,
});
const reportDailyUsage = createDailyUsage({ reportUsageBuckets, clock: Date.now });
const services = { audit: createAudit({ store }), reportUsage, reportDailyUsage };
const program = createProgram(async (work) => work(services as Services));
process.exitCode = await run(program, ["node", "voxledger", ...args]);
await store.close();
