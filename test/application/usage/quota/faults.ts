import { setTimeout as delay } from "node:timers/promises";
import { seededRandom } from "../../../support/eventstoredb-node/index-lag.ts";
import type { EventStoreDBNode } from "../../../support/eventstoredb-node/node.ts";

const unknown = 2;

/** Longer than a decision may wait: some are answered 503. */
const longFreezeMs = 1_200;

/** Freezes appends at once, then disturbs the node again and again in a way and at a time that the seed gives, until `stop`. */
export const disturb = (node: EventStoreDBNode, seed: number): { stop(): Promise<void> } => {
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
    await freeze(longFreezeMs);
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
