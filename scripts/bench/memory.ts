/**
 * Measures the memory of the service with 32 MB of cached audio: of its own process (RSS), and
 * including its child processes (PSS). Measures it idle, and under a mixed load of cached GETs by
 * several keys, cold syntheses and streams of a premium voice. Compares it with its limits.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { admin, authorize, type Credentials, registerWebsite } from "../../test/support/client.ts";
import { startService } from "../../test/support/service.ts";
import { makeSound } from "../../test/support/wire/made-sound.ts";
import { pssOfTree, rssOf } from "./process-memory.ts";
import { startServer } from "./server-process.ts";
import { figuresOf } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

/** Megabytes. */
const limits = { rss: 350, pss: 450 };
const loadSeconds = 45;
const websites = 16;
/** Concurrent requests of each kind. */
const atOnce = { cached: 32, cold: 4, streams: 4 };

interface Measured {
  readonly rss: number[];
  readonly pss: number[];
}

const measure = async (pid: number, seconds: number): Promise<Measured> => {
  const measured: Measured = { rss: [], pss: [] };
  for (const end = Date.now() + seconds * 1_000; Date.now() < end; await delay(500)) {
    measured.rss.push(rssOf(pid));
    measured.pss.push(pssOfTree(pid));
  }
  return measured;
};

/** Repeats a request until the load ends. */
type Ask = (n: number) => Promise<Response>;

const repeat = async (ask: Ask, running: () => boolean): Promise<number> => {
  let completed = 0;
  while (running()) {
    const response = await ask(completed);
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`answered with ${response.status}`);
    completed += 1;
  }
  return completed;
};

let sentences = 0;
const freshSentence = (): string =>
  `Sentence number ${++sentences} is new to the service, to its memory and to its store.`;

const asksOf = (url: string, callers: readonly Credentials[]): Record<keyof typeof atOnce, Ask> => {
  const headersOf = (n: number) => authorize(callers[n % callers.length] as Credentials);
  const get: (text: string, n: number) => Promise<Response> = (text, n) =>
    fetch(`${url}/v2/text/synthesize?${new URLSearchParams({ voice: "UK English Female", text })}`, {
      headers: headersOf(n),
    });
  return {
    cached: (n) => get(`Sentence ${n % 200} was spoken before, and lies in memory or in the store.`, n),
    cold: (n) => get(freshSentence(), n),
    streams: () =>
      fetch(`${url}/v2/text/synthesize`, {
        method: "POST",
        headers: { ...headersOf(0), "Content-Type": "application/json", Accept: "text/event-stream" },
        body: JSON.stringify({ voice: "alloy", text: freshSentence(), stream: true }),
      }),
  };
};

const print = (name: string, ours: readonly number[], atMost: number): void => {
  const figures = figuresOf(
    { name, unit: "MB", aim: { atMost: 1 } },
    { ours: [Math.max(...ours)], bare: [atMost] },
  );
  console.log(JSON.stringify(figures));
};

const bench = async (url: string, pid: number): Promise<void> => {
  const callers: Credentials[] = [];
  for (let n = 0; n < websites; n++) callers.push(await registerWebsite(url));
  const { status } = await admin(url, "PUT", `/websites/${callers[0]?.id}/credentials/oai`, {
    apiKey: "sk-bench",
    voices: ["alloy"],
  });
  if (status >= 300) throw new Error(`the credentials were answered with ${status}`);
  const idle = await measure(pid, 3);
  let loaded = true;
  const asks = asksOf(url, callers);
  const kinds = Object.entries(atOnce) as [keyof typeof atOnce, number][];
  const load = kinds.flatMap(([kind, count]) =>
    Array.from({ length: count }, () => repeat(asks[kind], () => loaded)),
  );
  const under = await measure(pid, loadSeconds);
  loaded = false;
  await Promise.all(load);
  print("memory idle, RSS of the service's process", idle.rss, limits.rss);
  print("memory idle, PSS of all its processes", idle.pss, limits.pss);
  print("memory under mixed load, RSS of the service's process", under.rss, limits.rss);
  print("memory under mixed load, PSS of all its processes", under.pss, limits.pss);
};

await inTemporaryFolder(async (folder) => {
  const file = join(folder, "spoken.mp3");
  const format = { kind: "mp3", sampleRate: 24_000, kbitPerSecond: 64 } as const;
  await writeFile(file, await makeSound({ text: freshSentence(), voice: "gmw/en-US+f3", format }));
  const upstream = await startServer("./speech-upstream.ts", file);
  const service = await startService(join(folder, "data"), {
    OPENAI_URL: upstream.url,
    BURST_LIMIT: "1000000",
    MEMORY_CACHE_BYTES: String(32 * 1024 * 1024),
    PROVIDER_CONCURRENCY: "16",
    PROVIDER_REQUESTS_PER_MINUTE: "100000",
  });
  try {
    await bench(service.url, service.pid);
  } finally {
    await service.stop();
    await upstream.stop();
  }
});
