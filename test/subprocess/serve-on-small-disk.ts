import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { admin, authorize, registerWebsite } from "../support/client.ts";
import { ask, startInProcessService } from "../support/in-process-service.ts";
import { adminToken } from "../support/service.ts";

/**
 * Serves from a small disk with event log, snapshots and audio: before it is full, while it is
 * full, and after it was freed. Prints the statuses of the responses, and the number of recorded
 * servings.
 */
const service = await startInProcessService();
const website = await registerWebsite(service.url);
const ballast = join(tmpdir(), "ballast");
let texts = 0;
const synthesize = async (text = `Number ${++texts}.`): Promise<number> => {
  service.time.now += 1000; // below the rate limit
  const query = new URLSearchParams({ text, lang: "en-GB" });
  return (await ask(`${service.url}/v2/text/synthesize?${query}`, { headers: authorize(website) })).status;
};

const before = await synthesize();
// Smaller and smaller pieces: a file of the whole size may not fit into what is left.
for (let size = 1024 * 1024; size >= 4096; size /= 2) {
  const { bavail, bsize } = statfsSync(tmpdir());
  const pieces = Math.floor((bavail * bsize) / size);
  try {
    writeFileSync(ballast, Buffer.alloc(pieces * size), { flag: "a" });
  } catch {
    // The disk is full now.
  }
}
const during = [await synthesize(), await synthesize()];
const command = await admin(service.url, "POST", "/websites", { name: "another.example" });
rmSync(ballast);
const after: number[] = [];
while (after.at(-1) !== 200) after.push(await synthesize());

const audit = await fetch(`${service.url}/admin/audit?apiKey=${website.apiKey}`, {
  headers: { Authorization: `Bearer ${adminToken}` },
});
const entries = (await audit.text()).split("\n");
const count = (type: string): number => entries.filter((line) => line.includes(`"${type}"`)).length;
const recorded = count("SynthesisServed") - count("ServingVoided");
console.log(JSON.stringify({ before, during, command: command.status, after, recorded }));
await service.close();
process.exit();
