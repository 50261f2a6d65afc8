/**
 * Backs up a service while it serves, loses everything and restores it, with a service of its own:
 * `scripts/node scripts/restore-drill.ts [sqlite|eventstoredb]`. EventStoreDB is a test node, whose
 * file stands for the server's own backup. It exits with 1 if anything differs after the restore.
 */
import { runRestoreDrill } from "../test/e2e/restore-drill/drill.ts";

const [store = "sqlite"] = process.argv.slice(2);
if (store !== "sqlite" && store !== "eventstoredb") throw new Error(`unknown store ${store}`);

await runRestoreDrill(store, (step) => console.log(step));
console.log("the restored service continues its log, and its audio is the same");
process.exit();
