/**
 * How fast the views of usage are replayed from the embedded store, beside JSON.parse of the same events alone.
 * Prints {name, ours, bare, ratio, unit}: the medians of rounds that take turns.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monthlyQuota } from "../../projections/monthly-quota.ts";
import { createProjectionRunner } from "../../projections/runner.ts";
import { usageTotals } from "../../projections/usage-totals.ts";
import { engineCodes } from "../../src/domain/speech.ts";
import { type SynthesisServed, usageStream } from "../../src/domain/usage.ts";
import type { EventStore, NewEvent } from "../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { uuidv7 } from "../../src/eventstore/uuid.ts";

const events = 200_000;
const perAppend = 500;
const keys = 40;
const voices = 12;
const rounds = 7;

const served = (n: number): NewEvent => {
  const at = new Date(Date.UTC(2026, 10, 1) + n * 12_000).toISOString();
  const data: SynthesisServed = {
    requestId: uuidv7(n),
    hash: n.toString(16).padStart(64, "0"),
    characters: 20 + (n % 400),
    engine: engineCodes[(n % voices) % engineCodes.length] ?? "g1",
    voice: `Voice ${n % voices}`,
    lang: "en-GB",
    format: "mp3",
    cached: "store",
    at,
  };
  const metadata = { correlationId: data.requestId, actor: "key:k1" };
  return { id: uuidv7(Date.now()), type: "SynthesisServed", data, metadata };
};

const fill = async (store: EventStore): Promise<void> => {
  for (let n = 0; n < events; n += perAppend) {
    const batch = Array.from({ length: perAppend }, (_, i) => served(n + i));
    await store.append(usageStream(`k${(n / perAppend) % keys}`, "2026-11"), batch, "any");
  }
};

/** Every event as a line, as a log in a file would hold it. */
const linesOf = async (store: EventStore): Promise<string[]> => {
  const lines: string[] = [];
  for await (const batch of store.subscribe()) {
    for (const event of batch.events) lines.push(JSON.stringify(event));
    if (batch.caughtUp) break;
  }
  return lines;
};

const replay = async (store: EventStore): Promise<void> => {
  const runner = createProjectionRunner({ store, projections: [monthlyQuota, usageTotals] });
  await runner.start();
  const views = [...runner.view(monthlyQuota).entries()];
  const told = views.reduce((sum, [, { requests }]) => sum + requests, 0);
  await runner.close();
  if (told !== events) throw new Error(`${told} of ${events} events were told`);
};

const parseAll = (lines: readonly string[]): void => {
  let characters = 0;
  for (const line of lines) characters += JSON.parse(line).data.characters;
  if (characters === 0) throw new Error("nothing was parsed");
};

const perSecond = async (work: () => void | Promise<void>): Promise<number> => {
  const began = performance.now();
  await work();
  return (events / (performance.now() - began)) * 1_000;
};

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;

const folder = await mkdtemp(join(tmpdir(), "voxledger-bench-"));
try {
  const store = await openSqliteEventStore({ path: join(folder, "events.db") });
  await fill(store);
  const lines = await linesOf(store);
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    ours.push(await perSecond(() => replay(store)));
    bare.push(await perSecond(() => parseAll(lines)));
  }
  await store.close();
  const [us, them] = [median(ours), median(bare)];
  const ratio = Number((us / them).toFixed(2));
  console.log(
    JSON.stringify({ name: "replay", ours: Math.round(us), bare: Math.round(them), ratio, unit: "events/s" }),
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
