import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { seededRandom } from "../../support/eventstoredb-node/index-lag.ts";
import type { EventStoreDBNode } from "../../support/eventstoredb-node/node.ts";

const unknown = 2;

/** Longer than an instance waits for an append. */
const longFreezeMs = 1_200;
/** Longer than other instances wait for the return of a stopped instance's characters. */
const longStopMs = 4_000;

/**
 * Freezes appends until a request was refused with 503. Then it disturbs the node and the instances
 * repeatedly, in ways and at times that the seed determines, until `stop`. `replace` kills an
 * instance with SIGKILL and starts another one.
 */
export const disturb = ({
  node,
  seed,
  refused,
  processes,
  replace,
}: {
  node: EventStoreDBNode;
  seed: number;
  /** Resolves when a request was refused with 503. */
  refused: Promise<void>;
  processes: () => readonly ChildProcess[];
  replace: () => void;
}): { stop(): Promise<void> } => {
  const random = seededRandom(seed);
  const over = new AbortController();
  const wait = (ms: number) => delay(ms, undefined, { signal: over.signal }).catch(() => {});
  const freeze = async (ms: number): Promise<void> => {
    node.faults.freezeAppends();
    await wait(ms);
    node.faults.thawAppends();
  };
  const suspend = async (ms: number): Promise<void> => {
    const running = processes();
    const one = running[Math.floor(random() * running.length)];
    one?.kill("SIGSTOP");
    await wait(ms);
    one?.kill("SIGCONT");
  };
  const kinds: readonly (() => unknown)[] = [
    node.faults.killConnections,
    () => node.faults.loseResponses(1 + Math.floor(random() * 3)),
    () => node.faults.breakBatchStreams(unknown),
    () => freeze(random() * longFreezeMs),
    () => suspend(random() * longStopMs),
    replace,
  ];
  const run = async (): Promise<void> => {
    node.faults.freezeAppends();
    await Promise.race([refused, once(over.signal, "abort")]);
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
