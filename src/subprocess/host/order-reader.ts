import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { parentPort, workerData } from "node:worker_threads";
import { cancelLine } from "./frames.ts";
import type { OrderReaderData } from "./orders.ts";

/** The thread of a speaker process that reads its input. It ends with the input. */

const standardInput = 0;

const { cancelled, stopByte } = workerData as OrderReaderData;
let read = 0;
for await (const line of createInterface({ input: createReadStream("", { fd: standardInput }) })) {
  if (line === cancelLine) {
    Atomics.store(cancelled, 0, read);
    Atomics.store(stopByte, 0, 1);
  } else {
    read++;
    parentPort?.postMessage(line);
  }
}
