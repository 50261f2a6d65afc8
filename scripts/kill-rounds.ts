/**
 * Kills the service under load with SIGKILL, again and again, and checks that the ledger stays
 * exact: `scripts/node scripts/kill-rounds.ts [sqlite|eventstoredb] [rounds] [seed] [workers]`. On
 * EventStoreDB two instances run over a test node. With several workers one instance runs, whose
 * workers are killed one by one, or all together, or with the first process.
 */
import { runKillRounds } from "../test/e2e/kill-rounds/rounds.ts";

const [store = "sqlite", rounds = "100", seed = String(Date.now() % 1_000_000), workers = "1"] =
  process.argv.slice(2);
if (store !== "sqlite" && store !== "eventstoredb") throw new Error(`unknown store ${store}`);

console.log(`${store}, ${rounds} rounds, seed ${seed}, ${workers} workers`);
const { responses } = await runKillRounds({
  store,
  rounds: Number(rounds),
  seed: Number(seed),
  workers: Number(workers),
  onRound: (summary) => console.log(summary),
});
console.log(`${responses.length} responses, each recorded once; accounts, reports and proofs agree`);
process.exit();
