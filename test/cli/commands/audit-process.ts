// Runs the command line in a separate process over the event store of the first argument.

import type { Services } from "../../../src/cli/command.ts";
import { createProgram, run } from "../../../src/cli/program.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { createUsageReader } from "../../../src/ledger/accounts/usage-reader.ts";
import { createAudit } from "../../../src/ledger/audit/audit.ts";
import { createUsageReport } from "../../../src/ledger/reports/usage-report.ts";

const [path = "", ...args] = process.argv.slice(2);
const store = await openSqliteEventStore({ path });
const reportUsage = createUsageReport({ store, accounts: createUsageReader({ store }) });
const services = { audit: createAudit({ store }), reportUsage };
const program = createProgram(async (work) => work(services as Services));
process.exitCode = await run(program, ["node", "voxledger", ...args]);
await store.close();
