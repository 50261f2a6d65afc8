/**
 * A web page tries to lock its visitors' network out. It opens WebSockets with junk tokens, as
 * every page can. A program at the same address presents wrong secrets to websites and to the admin
 * API. Then the owner of a key and the operator, at the same address, must be served. Exits with 1
 * if one of them is not.
 */
import { admin, authorize, registerWebsite } from "../../test/support/client.ts";
import { ask } from "../../test/support/in-process-service.ts";
import { startService, temporaryFolder } from "../../test/support/service.ts";

const attempts = 100;
const handshake = {
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": Buffer.alloc(16).toString("base64"),
  Origin: "https://evil.example",
};

const folder = await temporaryFolder();
const service = await startService(folder.path);
try {
  const website = await registerWebsite(service.url);
  const wrong = { "X-API-Key": website.apiKey, "X-API-Secret": "wrong" };
  const attacks: Record<string, () => Promise<{ status: number }>> = {
    "junk tokens of WebSockets": () =>
      ask(`${service.url}/v2/text/stream?token=junk`, { headers: handshake }),
    "junk access tokens": () =>
      ask(`${service.url}/v2/voices`, { headers: { Authorization: "Bearer e30.e30.e30" } }),
    "wrong secrets": () => ask(`${service.url}/v2/voices`, { headers: wrong }),
    "wrong secrets of WebSockets": () =>
      ask(`${service.url}/v2/text/stream`, { headers: { ...handshake, ...wrong } }),
    "wrong admin tokens": () =>
      ask(`${service.url}/admin/keys`, { headers: { Authorization: "Bearer wrong" } }),
  };
  for (const [what, attack] of Object.entries(attacks)) {
    const statuses: Record<number, number> = {};
    for (let i = 0; i < attempts; i++) {
      const { status } = await attack();
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
    console.log(`${attempts} ${what}: ${JSON.stringify(statuses)}`);
  }
  const owner = await ask(`${service.url}/v2/voices`, { headers: authorize(website) });
  const operator = await admin(service.url, "GET", "/keys");
  console.log(`afterwards the right secret gets ${owner.status}, the operator's token ${operator.status}`);
  if (owner.status !== 200 || operator.status !== 200) process.exitCode = 1;
} finally {
  await service.stop();
  await folder.remove();
}
