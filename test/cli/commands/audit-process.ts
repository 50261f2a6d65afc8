// Runs the command line in a separate process over the event store of the first argument.
import { createUsageReader } from "../../../src/application/ledger/usage-accounts/usage-reader.ts";
import { createAudit } from "../../../src/application/usage/audit.ts";
import { createUsageReport } from "../../../src/application/usage/usage-report.ts";
import type { Services } from "../../../src/cli/command.ts";
import { createProgram, run } from "../../../src/cli/program.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";

const [path = "", ...args] = process.argv.slice(2);
const store = await openSqliteEventStore({ path });
const reportUsage = createUsageReport({ store, accounts: createUsageReader({ store }) });
const services = { audit: createAudit({ store }), reportUsage };
const program = createProgram(async (work) => work(services as Services));
process.exitCode = await run(program, ["node", "voxledger", ...args]);
await store.close();
