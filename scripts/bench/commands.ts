/**
 * Measures commands per second through the command handler over the embedded store. 256 are in
 * flight, and each is durable before it resolves. Compares with plain node:sqlite, which inserts
 * the same events in transactions of 64.
 */
import { join } from "node:path";
import { idempotencyDecider, idempotencyStream, recordUse } from "../../src/domain/ledger/idempotency.ts";
import { createCommandHandler } from "../../src/eventstore/command-handler.ts";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { uuidv7 } from "../../src/eventstore/uuid.ts";
import { openBareLog } from "./bare-log.ts";
import { perSecond, sideBySide } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const commands = 20_000;
const inFlight = 256;
const perTransaction = 64;

let serial = 0;

/** Each command is more than a day after the one before: none is a repeat. */
const usedAs = (n: number) => ({
  key: "digest",
  requestId: uuidv7(n),
  request: n.toString(16).padStart(64, "0"),
  at: new Date(n * 100_000_000).toISOString(),
});

const bench = async (folder: string, streams: number): Promise<void> => {
  const store = await openSqliteEventStore({ path: join(folder, `${streams}-ours.db`) });
  const handler = createCommandHandler({ store });
  const bare = openBareLog(join(folder, `${streams}-bare.db`));
  const streamOf = (n: number): string => idempotencyStream("k1", { key: String(n % streams) });

  const command = async (): Promise<void> => {
    const n = serial++;
    const use = usedAs(n);
    const metadata = { correlationId: use.requestId, actor: "key:k1" };
    await handler.execute(idempotencyDecider, streamOf(n), (state) => recordUse(state, use), metadata);
  };
  const executeAll = async (): Promise<void> => {
    let left = commands;
    const executeInTurn = async (): Promise<void> => {
      while (left-- > 0) await command();
    };
    await Promise.all(Array.from({ length: inFlight }, executeInTurn));
  };
  const insertAll = (): void => {
    for (let n = 0; n < commands; n += perTransaction) {
      const batch = Array.from({ length: Math.min(perTransaction, commands - n) }, () => serial++);
      bare.insert(batch.map((one) => ({ stream: one % streams, data: usedAs(one) })));
    }
  };

  await sideBySide({
    name: streams === 1 ? "commands on one stream" : `commands on ${streams} streams`,
    unit: "commands/s",
    aim: { atLeast: streams === 1 ? 0.7 : 0.5 },
    rounds: 7,
    warmUps: 2,
    ours: () => perSecond(commands, executeAll),
    bare: () => perSecond(commands, insertAll),
  });
  bare.close();
  await store.close();
};

await inTemporaryFolder(async (folder) => {
  await bench(folder, 1);
  await bench(folder, 64);
});
