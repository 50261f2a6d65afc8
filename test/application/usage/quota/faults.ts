import { setTimeout as delay } from "node:timers/promises";
import { seededRandom } from "../../../support/eventstoredb-node/index-lag.ts";
import type { EventStoreDBNode } from "../../../support/eventstoredb-node/node.ts";

const unknown = 2;

/** Longer than an instance waits for an append. */
const longFreezeMs = 1_200;

/**
 * Freezes appends until every instance has refused a request with 503. Then it disturbs the node repeatedly, in ways and at times
 * that the seed determines, until `stop`.
 */
export const disturb = (
  node: EventStoreDBNode,
  seed: number,
  everyInstanceRefused: Promise<unknown>,
): { stop(): Promise<void> } => {
  const random = seededRandom(seed);
  const over = new AbortController();
  const wait = (ms: number) => delay(ms, undefined, { signal: over.signal }).catch(() => {});
  const freeze = async (ms: number): Promise<void> => {
    node.faults.freezeAppends();
    await wait(ms);
    node.faults.thawAppends();
  };
  const kinds: readonly (() => unknown)[] = [
    node.faults.killConnections,
    () => node.faults.loseAnswers(1 + Math.floor(random() * 3)),
    () => node.faults.breakBatchStreams(unknown),
    () => freeze(random() * longFreezeMs),
  ];
  const run = async (): Promise<void> => {
    node.faults.freezeAppends();
    await everyInstanceRefused;
    node.faults.thawAppends();
    while (!over.signal.aborted) {
      await wait(random() * 1_500);
      await kinds[Math.floor(random() * kinds.length)]?.();
    }
    node.faults.thawAppends();
  };
  const running = run();
  return {
    stop: async () => {
      over.abort();
      await running;
    },
  };
};
