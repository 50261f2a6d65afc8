/**
 * Runs a node: `main.ts [port] [data file]`. Prints its URL once it listens, and ends with its
 * standard input. With INDEX_LAG_SEED in the environment, appends are indexed after a random lag.
 */
import { once } from "node:events";
import { randomLag } from "./index-lag.ts";
import { startEventStoreDBNode } from "./node.ts";

const [port = "0", dataFile] = process.argv.slice(2);
const { INDEX_LAG_SEED: seed } = process.env;
const node = await startEventStoreDBNode({
  port: Number(port),
  dataFile,
  ...(seed !== undefined && { indexLagMs: randomLag(Number(seed)) }),
});
console.log(node.url);
process.stdin.resume();
await once(process.stdin, "end");
await node.close();
