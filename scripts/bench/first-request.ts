/**
 * Measures the milliseconds for the first request of a key with a monthly quota on an instance,
 * which reserves characters before the request is served. Compares with the next request of the
 * same key. Uses a test node of EventStoreDB in a process of its own.
 */
import { join } from "node:path";
import { bytesOf, type Credentials, registerWebsite, synthesize } from "../../test/support/client.ts";
import { startEventStoreDBProcess } from "../../test/support/eventstoredb-process.ts";
import { masterKey, startInstance } from "../../test/support/instance.ts";
import { figuresOf, milliseconds } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const keys = 60;
const query = { voice: "UK English Female", text: "The first request of a key." };

await inTemporaryFolder(async (folder) => {
  const node = await startEventStoreDBProcess();
  const env = { EVENT_STORE: node.url, MASTER_KEY: masterKey, BURST_LIMIT: "1000000" };
  const service = await startInstance(join(folder, "data"), env);
  const request = (key: Credentials): Promise<number> =>
    milliseconds(async () => {
      const response = await synthesize(service.url, key, query);
      await bytesOf(response);
      if (response.status !== 200) throw new Error(`a request was answered with ${response.status}`);
    });
  try {
    const plan = { monthlyCharacters: 1_000_000 };
    for (let warmUp = 0; warmUp < 10; warmUp++) await request(await registerWebsite(service.url, plan));
    const issued: Credentials[] = [];
    while (issued.length < keys) issued.push(await registerWebsite(service.url, plan));
    const first: number[] = [];
    const later: number[] = [];
    for (const key of issued) {
      first.push(await request(key));
      later.push(await request(key));
    }
    const subject = { name: "first request of a key, EventStoreDB", unit: "ms", aim: { addsAtMost: 10 } };
    console.log(JSON.stringify(figuresOf(subject, { ours: first, bare: later })));
  } finally {
    await service.kill();
    await node.kill();
  }
});
