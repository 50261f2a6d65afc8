/**
 * A node in a process of its own: `main.ts [port] [data file]`. Prints its URL when it can be reached, and ends with its
 * standard input.
 */
import { once } from "node:events";
import { startEsdbNode } from "./node.ts";

const [port = "0", dataFile] = process.argv.slice(2);
const node = await startEsdbNode({ port: Number(port), ...(dataFile !== undefined && { dataFile }) });
console.log(node.url);
process.stdin.resume();
await once(process.stdin, "end");
await node.close();
