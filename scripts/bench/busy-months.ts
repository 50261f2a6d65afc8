import { keyStream } from "../../src/domain/accounts/key.ts";
import { websiteStream } from "../../src/domain/accounts/website.ts";
import { type SynthesisServed, usageStream } from "../../src/domain/usage/usage.ts";
import type { EventStore, NewEvent } from "../../src/eventstore/event-store.ts";
import { uuidv7 } from "../../src/eventstore/uuid.ts";
import { servedAs } from "./served.ts";

const keys = 100;
const months = ["2026-09", "2026-10"];
/** Per key and month: ten days, five voices. Any log of at least `leastEvents` events gives views of the same size. */
const days = 10;
const voices = 5;
const perAppend = 500;
const appendsAtOnce = 8;

export const leastEvents = keys * months.length * days * voices;

/** One key and month, and the totals in a view over a log of this many events. */
export const sampleOf = (events: number) => ({
  apiKey: nameOf(keys - 1),
  month: "2026-10",
  requests: events / keys / months.length,
});

/** Writes the events of a service with this many syntheses, spread evenly over keys, months and days. */
export const writeBusyMonths = async (store: EventStore, events: number): Promise<void> => {
  const apiKeys = Array.from({ length: keys }, (_, n) => nameOf(n));
  for (const apiKey of apiKeys) await issue(store, apiKey);
  const perMonth = events / keys / months.length;
  const all = appends(apiKeys, perMonth);
  const write = async (): Promise<void> => {
    for (const { stream, served } of all) await store.append(stream, served(), "any");
  };
  await Promise.all(Array.from({ length: appendsAtOnce }, write));
};

const nameOf = (n: number): string => `vlk_bench${String(n).padStart(3, "0")}`;

function* appends(apiKeys: readonly string[], perMonth: number) {
  for (let first = 0; first < perMonth; first += perAppend) {
    const length = Math.min(perAppend, perMonth - first);
    for (const month of months) {
      for (const apiKey of apiKeys) {
        const served = () => Array.from({ length }, (_, n) => servedIn(month, apiKey, first + n));
        yield { stream: usageStream(apiKey, month), served };
      }
    }
  }
}

const servedIn = (month: string, apiKey: string, n: number): NewEvent => {
  const day = String(1 + (Math.floor(n / voices) % days)).padStart(2, "0");
  const data: SynthesisServed = {
    ...servedAs(n),
    requestId: uuidv7(Date.now()),
    engine: "g1",
    voice: `Voice ${n % voices}`,
    at: `${month}-${day}T12:00:00.000Z`,
  };
  return eventOf("SynthesisServed", data, { correlationId: data.requestId, actor: `key:${apiKey}` });
};

const issue = async (store: EventStore, apiKey: string): Promise<void> => {
  const at = `${months[0]}-01T00:00:00.000Z`;
  const websiteId = `w-${apiKey}`;
  const website = { websiteId, name: "a website", origins: [`https://${apiKey}.example`], at };
  const plan = { tier: "commercial", requestsPerMinute: 1_000, monthlyCharacters: null };
  const by = { actor: "system" };
  await store.append(websiteStream(websiteId), [eventOf("WebsiteRegistered", website, by)], "none");
  await store.append(
    keyStream(apiKey),
    [eventOf("KeyIssued", { apiKey, websiteId, plan, at }, by), eventOf("SecretCreated", secretAt(at), by)],
    "none",
  );
};

const secretAt = (at: string) => ({ secretId: "s1", hash: "5ec2e7".repeat(10), at });

const eventOf = (type: string, data: object, metadata: NewEvent["metadata"]): NewEvent => ({
  id: uuidv7(Date.now()),
  type,
  data,
  metadata,
});
