/**
 * Kills the service under load with SIGKILL, again and again, and checks that the ledger stays
 * exact: `scripts/node scripts/kill-rounds.ts [sqlite|eventstoredb|URL] [rounds] [seed] [workers]`.
 * On EventStoreDB two instances run, over a test node, or over the real server that the connection
 * string names, under a stream prefix of their own. With several workers one instance runs, whose
 * workers are killed one by one, or all together, or with the first process.
 */
import { isServerUrl } from "../test/e2e/kill-rounds/deployment.ts";
import { runKillRounds } from "../test/e2e/kill-rounds/rounds.ts";

const [store = "sqlite", rounds = "100", seed = String(Date.now() % 1_000_000), workers = "1"] =
  process.argv.slice(2);
if (store !== "sqlite" && store !== "eventstoredb" && !isServerUrl(store))
  throw new Error("the store must be sqlite, eventstoredb or a connection string that begins with esdb://");

// A connection string may contain a password.
console.log(`${isServerUrl(store) ? "server" : store}, ${rounds} rounds, seed ${seed}, ${workers} workers`);
const { responses } = await runKillRounds({
  store,
  rounds: Number(rounds),
  seed: Number(seed),
  workers: Number(workers),
  onRound: (summary) => console.log(summary),
});
console.log(`${responses.length} responses, each recorded once; accounts, reports and proofs agree`);
process.exit();
