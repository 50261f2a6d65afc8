/**
 * Commands per second through the command handler over the embedded store, 256 in flight, each durable before it
 * resolves; compared with plain node:sqlite inserting the same events in transactions of 64.
 */
import { join } from "node:path";
import { recordServing, usageDecider, usageStream } from "../../src/domain/usage/usage.ts";
import { createCommandHandler } from "../../src/eventstore/command-handler.ts";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { openBareLog } from "./bare-log.ts";
import { servedAs } from "./served.ts";
import { perSecond, sideBySide } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const commands = 20_000;
const inFlight = 256;
const perTransaction = 64;

let serial = 0;

const bench = async (folder: string, streams: number): Promise<void> => {
  const store = await openSqliteEventStore({ path: join(folder, `${streams}-ours.db`) });
  const handler = createCommandHandler({ store });
  const bare = openBareLog(join(folder, `${streams}-bare.db`));
  const streamOf = (n: number): string => usageStream(`k${n % streams}`, "2026-11");

  const command = async (): Promise<void> => {
    const n = serial++;
    const served = servedAs(n);
    const metadata = { correlationId: served.requestId, actor: "key:k1" };
    await handler.execute(usageDecider, streamOf(n), (usage) => recordServing(usage, served, null), metadata);
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
      bare.insert(batch.map((one) => ({ stream: one % streams, data: servedAs(one) })));
    }
  };

  await sideBySide({
    name: streams === 1 ? "commands on one stream" : `commands on ${streams} streams`,
    unit: "commands/s",
    aim: { atLeast: 0.5 },
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
