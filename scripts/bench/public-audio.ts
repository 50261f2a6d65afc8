/**
 * Measures what clients without credentials can cost, and compares it with limits. Memory is the
 * RSS of the service's process. It is measured while 36 clients request objects of 59 MB and never
 * read, and during requests that get a HEAD, a 304 or one byte of these objects. For the latter,
 * the CPU time of each request is measured, too.
 */
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openFilesystemAudioStore } from "../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { publicUrlPath } from "../../src/domain/synthesis/recipe.ts";
import { nameOf, objectOf, soundOf } from "../../test/audio/pipeline/sounds.ts";
import { startService } from "../../test/support/service.ts";
import { cpuMilliseconds } from "./cpu-time.ts";
import { rssOf } from "./process-memory.ts";
import { figuresOf } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const objects = 18;
const objectBytes = 59e6;
/** The limit of memory in megabytes. */
const maxMemory = 400;
/** The limit of CPU time in milliseconds. */
const maxCpuTime = 2;
const stalled = 36;
const requests = 2_000;
const atOnce = 18;

const paths = Array.from({ length: objects }, (_, index) => publicUrlPath(nameOf(index)));
const pathOf = (n: number): string => paths[n % objects] ?? "";

const print = (name: string, unit: string, ours: number, most: number): void =>
  console.log(JSON.stringify(figuresOf({ name, unit, aim: { atMost: 1 } }, { ours: [ours], bare: [most] })));

/** Resolves with the largest RSS while the task runs. */
const peakOf = async (pid: number, task: Promise<unknown>): Promise<number> => {
  let [isRunning, peak] = [true, rssOf(pid)];
  const sampling = (async () => {
    for (; isRunning; await delay(50)) peak = Math.max(peak, rssOf(pid));
  })();
  await task;
  isRunning = false;
  await sampling;
  return peak;
};

const stall = async (url: string): Promise<void> => {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: stalled }, (_, n) => {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined).pause();
    socket.write(`GET ${pathOf(n)} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
    return socket;
  });
  await delay(10_000);
  for (const socket of sockets) socket.destroy();
};

const repeat = async (url: string, status: number, init: (n: number) => RequestInit): Promise<void> => {
  let sent = 0;
  const client = async (): Promise<void> => {
    for (let n = sent++; n < requests; n = sent++) {
      const response = await fetch(url + pathOf(n), init(n));
      await response.arrayBuffer();
      if (response.status !== status) throw new Error(`${response.status} instead of ${status}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
};

const tagOf = (n: number): string => `"${/[0-9a-f]{64}/.exec(pathOf(n))?.[0]}"`;

const attacks = [
  ["HEAD", 200, () => ({ method: "HEAD" })],
  ["304", 304, (n: number) => ({ headers: { "If-None-Match": tagOf(n) } })],
  ["bytes=0-0", 206, () => ({ headers: { Range: "bytes=0-0" } })],
] as const;

await inTemporaryFolder(async (folder) => {
  const store = await openFilesystemAudioStore({ path: join(folder, "audio") });
  for (let n = 0; n < objects; n++) await store.put(nameOf(n), objectOf(soundOf(n, objectBytes)));
  await store.close();
  const service = await startService(folder);
  try {
    const memory = await peakOf(service.pid, stall(service.url));
    print(`RSS beside ${stalled} clients that request 59 MB and never read`, "MB", memory, maxMemory);
    for (const [what, status, init] of attacks) {
      const before = cpuMilliseconds(service.pid);
      const peak = await peakOf(service.pid, repeat(service.url, status, init));
      const each = (cpuMilliseconds(service.pid) - before) / requests;
      print(`RSS during ${what} of objects of 59 MB`, "MB", peak, maxMemory);
      print(`CPU time of ${what} of an object of 59 MB`, "ms", each, maxCpuTime);
    }
  } finally {
    await service.stop();
  }
});
