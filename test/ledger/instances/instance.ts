/**
 * One of several instances over one event store: a ledger that decides on many concurrent requests.
 * It prints a line of JSON for each response, `"opened"` before the first one, `"answered"` after
 * the last one and, once its voids are durable, `"drained"`. Its argument is a `Load` as JSON.
 */
import { once } from "node:events";
import { writeSync } from "node:fs";
import { KeyIsSuspended, Unavailable } from "../../../src/domain/errors.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import { EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { validatedEventStore } from "../../../src/eventstore/validated-event-store.ts";
import { seededRandom } from "../../support/eventstoredb-node/index-lag.ts";
import { testPrincipal } from "../../support/principal.ts";
import { servedAudio } from "../../support/served-audio.ts";
import { openTestLedger, record } from "../../support/test-ledger.ts";
import type { Decided, Load } from "./load.ts";

// The ledger's timers do not keep a process alive; a service's sockets do.
const keepAlive = setInterval(() => {}, 60_000);

const { url, name, seed, decisions, keys, quota, atOnce }: Load = JSON.parse(process.argv[2] ?? "{}");
const random = seededRandom(seed);
const store = validatedEventStore(
  await openEventStoreDB({ url, appendTimeoutMs: 300, readTimeoutMs: 1_000 }),
);
const handler = createCommandHandler({ store, deadlineMs: 3_000 });
const open = (): ReturnType<typeof openTestLedger> =>
  openTestLedger(store, Date.now, { handler, deadlineMs: 600, onError: () => {} }).catch((error: unknown) => {
    // A service that cannot open its journal exits and is started again.
    if (error instanceof Unavailable || error instanceof EventStoreUnavailable) return open();
    throw error;
  });
const opened = await open();

const pause = new Int32Array(new SharedArrayBuffer(4));

/**
 * Written synchronously: a killed process has printed every response that it gave. Waits while the
 * pipe is full (EAGAIN).
 */
const print = (line: Decided | string): void => {
  for (let left = Buffer.from(`${JSON.stringify(line)}\n`); left.length > 0; ) {
    try {
      left = left.subarray(writeSync(1, left));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
};

print("opened");
let begun = 0;

/** All instances go through the keys at the same time and in the same order. */
const decideNext = async (): Promise<void> => {
  while (begun < decisions) {
    const number = begun++;
    const apiKey = keys[Math.floor((number * keys.length) / decisions)] ?? "";
    const requestId = `${name}-${number}`;
    const characters = 1 + Math.floor(random() * 20);
    const serving = servedAudio({ requestId, characters, hash: requestId });
    const status = await record(
      opened.ledger,
      testPrincipal({ apiKey, monthlyCharacters: quota }),
      serving,
    ).then(() => 200, statusOf);
    print({ requestId, apiKey, characters, status });
  }
};

const statusOf = (error: unknown): number => {
  if (error instanceof KeyIsSuspended) return 403;
  if (error instanceof Unavailable) return 503;
  throw error;
};

await Promise.all(Array.from({ length: atOnce }, decideNext));
print("answered");
await once(process.stdin, "data"); // the faults have ended
await opened.drained();
print("drained");
await opened.close(10_000);
await store.close();
process.stdin.destroy();
clearInterval(keepAlive);
