/**
 * Measures the requests per second of one key on three instances over a test node of EventStoreDB,
 * with a monthly quota and without. One instance is 5 ms further away from the node than the
 * others. Compares the slowest instance's rate with an equal share. Fails if a request is refused.
 * With few connections, the time of an append limits each instance; with many, the CPU that all
 * share.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { authorize, bytesOf, registerWebsite, synthesize } from "../../test/support/client.ts";
import { startEventStoreDBProcess } from "../../test/support/eventstoredb-process.ts";
import { masterKey, startInstance } from "../../test/support/instance.ts";
import { figuresOf } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";
import { wrk } from "./wrk.ts";

const latencyMs = 5;
const connectionCounts = [16, 64];
const seconds = 3;
const rounds = 3;
const query = { voice: "UK English Female", text: "All of us use one key." };
const path = `/v2/text/synthesize?${new URLSearchParams(query)}`;

/**
 * Forwards connections to the port. What the clients send is delayed; responses are not. Resolves
 * with its own port.
 */
const startDistance = async (port: number): Promise<number> => {
  const forward = (from: Socket, to: Socket, delayMs: number): void => {
    const send = (chunk: Buffer) => to.writable && to.write(chunk);
    from.on("data", (chunk) => (delayMs > 0 ? setTimeout(send, delayMs, chunk) : send(chunk))); // a timer takes at least 1 ms
    from.on("close", () => to.destroy()).on("error", () => to.destroy());
  };
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port, host: "127.0.0.1", noDelay: true });
    forward(near, far, latencyMs);
    forward(far, near, 0);
  });
  server.listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
};

await inTemporaryFolder(async (folder) => {
  const node = await startEventStoreDBProcess();
  const distant = node.url.replace(String(node.port), String(await startDistance(node.port)));
  const start = (eventStore: string, index: number) =>
    startInstance(join(folder, `data-${index}`), {
      EVENT_STORE: eventStore,
      MASTER_KEY: masterKey,
      BURST_LIMIT: "1000000",
    });
  const services = await Promise.all([node.url, node.url, distant].map(start));
  try {
    for (const monthlyCharacters of [null, 1_000_000_000]) {
      const key = await registerWebsite(services[0]?.url ?? "", { monthlyCharacters });
      for (const { url } of services) {
        let status = 0;
        while (status !== 200) {
          const response = await synthesize(url, key, query); // 401 until the instance knows the key
          await bytesOf(response);
          status = response.status;
        }
      }
      for (const connections of connectionCounts) {
        const slowest: number[] = [];
        const equal: number[] = [];
        for (let round = 0; round < rounds; round++) {
          const load = { headers: authorize(key), connections, seconds };
          const rates = await Promise.all(services.map(({ url }) => wrk({ ...load, url: url + path })));
          const perSecond = rates.map((rate) => rate.perSecond);
          slowest.push(Math.min(...perSecond));
          equal.push(perSecond.reduce((sum, rate) => sum + rate, 0) / services.length);
        }
        const quota = monthlyCharacters === null ? "without" : "with";
        const name = `slowest of three instances, one key ${quota} a quota, ${connections} connections each`;
        const subject = { name, unit: "requests/s", aim: { atLeast: 0.33 } };
        console.log(JSON.stringify(figuresOf(subject, { ours: slowest, bare: equal })));
      }
    }
  } finally {
    await Promise.all(services.map((service) => service.kill()));
    await node.kill();
  }
});
process.exit();
