/**
 * Requests per second for a 20 KB sound in the memory cache, each recorded durably before its response; compared with
 * a separate node:http process that sends as many bytes with the same headers. One wrk loads both.
 */
import { authorize, type Credentials, registerWebsite } from "../../test/support/client.ts";
import { startService } from "../../test/support/service.ts";
import { checkLedger } from "./ledger-check.ts";
import { startServer } from "./server-process.ts";
import { sideBySide } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";
import { wrk } from "./wrk.ts";

const text = "Every word that is spoken here is on the ledger.";
/** Enough for two alternating groups: one is processed while the other is written to the ledger. */
const connections = 64;
const seconds = 5;

/** node:http writes these itself. */
const automatic = new Set(["date", "connection", "keep-alive"]);

const bench = async (url: string, website: Credentials): Promise<void> => {
  const address = `${url}/v2/text/synthesize?${new URLSearchParams({ voice: "UK English Female", text })}`;
  const headers = authorize(website);
  let served = 0;
  let cutOff = 0;
  const askOnce = async (): Promise<Headers> => {
    const response = await fetch(address, { headers });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`the first request was answered with ${response.status}`);
    served += 1;
    return response.headers;
  };

  await askOnce();
  const cached = await askOnce();
  const sameHeaders = Object.fromEntries([...cached].filter(([name]) => !automatic.has(name)));
  const bare = await startServer("./bare-server.ts", JSON.stringify(sameHeaders));
  try {
    await sideBySide({
      name: `cached GET, ${cached.get("content-length")} bytes`,
      unit: "requests/s",
      aim: { atLeast: 0.5 },
      rounds: 5,
      warmUps: 1,
      ours: async () => {
        const { answers, perSecond } = await wrk({ url: address, headers, connections, seconds });
        served += answers;
        cutOff += connections;
        return perSecond;
      },
      bare: async () => (await wrk({ url: bare.url, headers, connections, seconds })).perSecond,
    });
    await checkLedger(url, website, { served, cutOff });
  } finally {
    await bare.stop();
  }
};

await inTemporaryFolder(async (folder) => {
  const service = await startService(folder, { BURST_LIMIT: "1000000" });
  try {
    await bench(service.url, await registerWebsite(service.url));
  } finally {
    await service.stop();
  }
});
