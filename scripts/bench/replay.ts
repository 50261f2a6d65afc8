/** The time to replay the usage views from the embedded store, compared with JSON.parse of the same events. */
import { join } from "node:path";
import { monthlyQuota } from "../../projections/monthly-quota.ts";
import { createProjectionRunner } from "../../projections/runner/runner.ts";
import { usageTotals } from "../../projections/usage-totals.ts";
import { usageStream } from "../../src/domain/usage/usage.ts";
import type { EventStore, NewEvent } from "../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { uuidv7 } from "../../src/eventstore/uuid.ts";
import { servedAs } from "./served.ts";
import { perSecond, sideBySide } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const events = 200_000;
const perAppend = 500;
const keys = 40;

const served = (n: number): NewEvent => {
  const data = servedAs(n);
  const metadata = { correlationId: data.requestId, actor: "key:k1" };
  return { id: uuidv7(Date.now()), type: "SynthesisServed", data, metadata };
};

const fill = async (store: EventStore): Promise<void> => {
  for (let n = 0; n < events; n += perAppend) {
    const batch = Array.from({ length: perAppend }, (_, i) => served(n + i));
    await store.append(usageStream(`k${(n / perAppend) % keys}`, "2026-11"), batch, "any");
  }
};

/** One line of JSON per event, as in a log file. */
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
  let replayed = 0;
  for (const [, { requests }] of runner.view(monthlyQuota).entries()) replayed += requests;
  await runner.close();
  if (replayed !== events) throw new Error(`${replayed} of ${events} events were replayed`);
};

const parseAll = (lines: readonly string[]): void => {
  let characters = 0;
  for (const line of lines) characters += JSON.parse(line).data.characters;
  if (characters === 0) throw new Error("nothing was parsed");
};

await inTemporaryFolder(async (folder) => {
  const store = await openSqliteEventStore({ path: join(folder, "events.db") });
  await fill(store);
  const lines = await linesOf(store);
  await sideBySide({
    name: "replay of usage",
    unit: "events/s",
    aim: { atLeast: 0.5 },
    rounds: 7,
    warmUps: 1,
    ours: () => perSecond(events, () => replay(store)),
    bare: () => perSecond(events, () => parseAll(lines)),
  });
  await store.close();
});
