/**
 * One of several instances over one event store: a ledger that decides on many concurrent requests. It prints "unavailable" at
 * its first 503, "answered" when all requests are answered and, once the 503s are settled, all answers as JSON. Its argument is a
 * `Load` as JSON.
 */
import { once } from "node:events";
import { monthlyQuota } from "../../../../projections/monthly-quota.ts";
import { createProjectionRunner } from "../../../../projections/runner/runner.ts";
import type { Principal } from "../../../../src/application/access/principal.ts";
import { createLedger } from "../../../../src/application/usage/ledger.ts";
import { createWarmUsage } from "../../../../src/application/usage/warm-usage.ts";
import { KeyIsSuspended, Unavailable } from "../../../../src/domain/errors.ts";
import { createCommandHandler } from "../../../../src/eventstore/command-handler.ts";
import { openEventStoreDB } from "../../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { seededRandom } from "../../../support/eventstoredb-node/index-lag.ts";
import { served } from "../../../support/served.ts";
import { openVoiding } from "../../../support/voiding.ts";
import type { Decided, Load } from "./load.ts";

const { url, name, seed, decisions, keys, quota, atOnce }: Load = JSON.parse(process.argv[2] ?? "{}");
const clock = Date.now;
const random = seededRandom(seed);
const store = await openEventStoreDB({ url, appendTimeoutMs: 300, readTimeoutMs: 1_000 });
const runner = createProjectionRunner({ store, projections: [monthlyQuota] });
await runner.start();
const quotas = runner.view(monthlyQuota);
const handler = createCommandHandler({
  store,
  clock,
  deadlineMs: 600,
  readSnapshot: createWarmUsage({ store, quotas, clock }),
});
const voiding = openVoiding(store, clock);
const ledger = createLedger({ handler, views: runner, quotas, voiding, clock });

const principalOf = (apiKey: string): Principal => ({
  apiKey,
  websiteId: "w",
  plan: { tier: "enterprise", requestsPerMinute: 1_000_000, monthlyCharacters: quota },
  proof: { by: "secret", secretId: "s" },
});

const decided: Decided[] = [];
let begun = 0;

/** All instances go through the keys at the same time and in the same order. */
const decideNext = async (): Promise<void> => {
  while (begun < decisions) {
    const number = begun++;
    const apiKey = keys[Math.floor((number * keys.length) / decisions)] ?? "";
    const requestId = `${name}-${number}`;
    const characters = 1 + Math.floor(random() * 20);
    const { at: _, ...serving } = served({ requestId, characters, hash: requestId });
    const status = await ledger.record(principalOf(apiKey), serving).then(() => 200, statusOf);
    if (status === 503 && decided.every((one) => one.status !== 503)) console.log("unavailable");
    decided.push({ requestId, apiKey, characters, status });
  }
};

const statusOf = (error: unknown): number => {
  if (error instanceof KeyIsSuspended) return 403;
  if (error instanceof Unavailable) return 503;
  throw error;
};

await Promise.all(Array.from({ length: atOnce }, decideNext));
console.log("answered");
await once(process.stdin, "data"); // faults are over
await voiding.settled();
console.log(JSON.stringify(decided));
await voiding.close(0);
await runner.close();
await store.close();
process.stdin.destroy();
