/**
 * Measures what a request of 100 characters takes of disk and CPU time when requests come one by
 * one, as at most sites: each has a flush of its own. 300 new texts of one key as mp3, and the same
 * texts again. docs/operate/capacity.md multiplies these figures.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Credentials, registerWebsite, synthesize } from "../../test/support/client.ts";
import { startInstance } from "../../test/support/instance.ts";
import { cpuMilliseconds } from "./cpu-time.ts";
import { pssOfTree } from "./process-memory.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const requests = 300;

/** Different texts of 100 characters. */
const textOf = (index: number): string =>
  `Sentence number ${index} says where the train to the coast will stop and when it will arrive. `
    .repeat(2)
    .slice(0, 99)
    .concat(".");

const bytesIn = async (folder: string, isCounted: (path: string) => boolean): Promise<number> => {
  const names = await readdir(folder, { recursive: true });
  const sizes = names.filter(isCounted).map(async (name) => {
    const found = await stat(join(folder, name));
    return found.isFile() ? found.size : 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
};

const sizesIn = async (dataDir: string) => ({
  log: await bytesIn(dataDir, (name) => name === "events.db"),
  audio: await bytesIn(dataDir, (name) => /^audio\/(public|private)\//.test(name)),
});

const speak = async (url: string, website: Credentials): Promise<void> => {
  for (let index = 0; index < requests; index++) {
    const query = { voice: "UK English Female", text: textOf(index) };
    const response = await synthesize(url, website, query);
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`answered with ${response.status}`);
  }
};

/** Restarts the service after each part, so that the log is in one file. */
const measure = async (dataDir: string, website?: Credentials) => {
  const before = website ? await sizesIn(dataDir) : { log: 0, audio: 0 };
  const service = await startInstance(dataDir, { VOICE_GALLERY: "off" });
  const used = website ?? (await registerWebsite(service.url));
  const cpuBefore = cpuMilliseconds(service.pid);
  if (website) await speak(service.url, website);
  const cpu = cpuMilliseconds(service.pid) - cpuBefore;
  const memory = pssOfTree(service.pid);
  await service.stop();
  const { log, audio } = await sizesIn(dataDir);
  const perRequest = {
    "log in bytes": Math.round((log - before.log) / requests),
    "audio in bytes": Math.round((audio - before.audio) / requests),
    "CPU time in ms": Math.round((cpu / requests) * 10) / 10,
  };
  return { used, perRequest, memory: Math.round(memory) };
};

await inTemporaryFolder(async (folder) => {
  const dataDir = join(folder, "data");
  const { used } = await measure(dataDir);
  for (const name of ["new texts", "repeated texts"]) {
    const { perRequest, memory } = await measure(dataDir, used);
    console.log(JSON.stringify({ name, requests, ...perRequest, "memory in MB": memory }));
  }
});
