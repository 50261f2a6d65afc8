import { Socket } from "node:net";
import { createInterface } from "node:readline";
import { parentPort, workerData } from "node:worker_threads";
import { cancelLine } from "./frames.ts";
import type { RequestReaderData } from "./requests.ts";

/** The program of the thread that reads a speaker process's input. It ends with the input. */

/**
 * With a stream of `fs`, a process whose main thread has failed would not end before its input
 * does.
 */
const input = new Socket({ fd: 0, readable: true, writable: false });

const { cancelled, stopByte } = workerData as RequestReaderData;
let read = 0;
for await (const line of createInterface({ input })) {
  if (line === cancelLine) {
    Atomics.store(cancelled, 0, read);
    Atomics.store(stopByte, 0, 1);
  } else {
    read++;
    parentPort?.postMessage(line);
  }
}
