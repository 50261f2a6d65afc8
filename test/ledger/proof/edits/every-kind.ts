import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EventStore } from "../../../../src/eventstore/event-store.ts";
import { sealing } from "../sealed-store.ts";

interface Fixture {
  readonly stream: string;
  readonly type: string;
  readonly data: object;
}

const allFixtures: readonly Fixture[] = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../golden/fixtures/events.json"), "utf8"),
);
/** `LogRestored` is compared with the position before it: see restored-log.test.ts. */
const fixtures = allFixtures.filter(({ type }) => type !== "LogRestored");

/** Streams whose events no verification compares with those of other streams. */
const independent = [
  "log",
  "master-key",
  "catalog",
  "website-web_1",
  "data-key-web_9",
  "credentials-web_1",
  "platform-chrome-windows",
  "lexicons-web_1",
  "webhooks",
  "audio",
  "idempotency-vlk_1-digest",
  "delivery-whk_1-019af0",
];

const plan = (monthlyCharacters: number | null) => ({
  tier: "free",
  requestsPerMinute: 100,
  monthlyCharacters,
});

/**
 * Writes a log with a stream of every kind: most of it is sealed, and every kind has an event that
 * is not. The positions have gaps, into which events can be inserted.
 */
export const writeEveryKind = async (store: EventStore): Promise<void> => {
  const { log, seals, post } = sealing(store);
  await store.setRetention("rate-i2", { maxCount: 1 });
  const gap = () => log.append("rate-i2", "RequestsCounted", { minute: 1, keys: ["k1"], counts: [1] });
  const fixture = ({ stream, type, data }: Fixture) =>
    store.append(stream, [{ id: randomUUID(), type, data, metadata: { actor: "admin:alice" } }], "any");
  const later: Fixture[] = [];

  for (const stream of independent) {
    const [first, ...rest] = distinctTypes(fixtures.filter((one) => one.stream === stream));
    const last = rest.pop();
    for (const one of [first, ...rest.slice(0, 2)]) if (one) await fixture(one);
    if (last) later.push(last);
    await gap();
  }
  await log.append("key-k1", "KeyIssued", { apiKey: "k1", websiteId: "web_1", plan: plan(null) });
  await log.append("key-k1", "SecretCreated", { secretId: "s1", hash: "5ec2e7" });
  await log.append("key-k2", "KeyIssued", { apiKey: "k2", websiteId: "web_1", plan: plan(1_000) });
  await log.append("key-k2", "SecretCreated", { secretId: "s2", hash: "c0ffee" });
  await log.append("rate-i1", "RequestsCounted", { minute: 1, keys: ["k1"], counts: [1] });
  await log.openJournal("j1");
  await log.serve("j1", "k1", [12, 30]);
  await log.append("quota-k2-2026-11", "CharactersReserved", { journal: "j1", total: 100 });
  await log.serve("j1", "k2", [40]);
  await seals.seal({ actor: "system" });
  await gap();
  await log.openJournal("j2");
  await log.serve("j2", "k1", [5]);
  const voided = { apiKey: "k2", requestId: "r", characters: 10, hash: "5", engine: "g1", voice: "v" };
  const servings = [{ ...voided, servedAt: log.now(), reason: "unanswered" }];
  await log.extend("j1", "ServingsVoided", { servings });
  await log.append("quota-k2-2026-11", "ReservationReturned", { journal: "j1", total: 30 });
  await log.close("j1");
  await post("j1", 3);
  await log.extend("j1", "JournalPosted", { through: 3 });
  await log.retire("j1");
  await gap();
  await log.append("key-k1", "KeySuspended", { cause: "operator", reason: "überfällig\u2028" });
  await log.append("key-k2", "SecretRevoked", { secretId: "s2" });
  await seals.seal({ actor: "system" });
  await log.serve("j2", "k1", [6, 8, 9]);
  await log.append("key-k1", "KeyReinstated", { reason: "paid" });
  await seals.seal({ actor: "system" });
  await gap();
  for (const one of later) await fixture(one);
  await log.serve("j2", "k1", [60]);
  await log.append("key-k2", "SecretCreated", { secretId: "s3", hash: "decade" });
  await log.append("rate-i1", "RequestsCounted", { minute: 2, keys: ["k1"], counts: [4] });
};

const distinctTypes = (events: readonly Fixture[]): Fixture[] =>
  events.filter(({ type }, index) => events.findIndex((one) => one.type === type) === index);
