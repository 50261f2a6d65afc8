/**
 * Measures the milliseconds for a new short sentence, requested every 250 ms with one key, while
 * ten other keys keep 64 texts of 5,000 characters in flight each. Compares with the same requests
 * without that load, in alternating phases. The ten keys have the limits of a commercial plan, and
 * retry refused requests. Then measures the seconds of audio that are spoken per second in these
 * phases. Compares them with a phase in which only one of the ten keys has texts, which are served
 * in the order of their arrival.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Credentials, registerWebsite, synthesizeByPost } from "../../test/support/client.ts";
import { startInstance } from "../../test/support/instance.ts";
import type { Flood } from "./long-text-flood.ts";
import { figuresOf, milliseconds } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

/** Both espeak-ng and flite speak. */
const voices = ["UK English Female", "US English Female"];
const keys = 10;
const inFlight = 64;
const phases = 3;
const sentencesPerPhase = 120;
const pauseMs = 250;
/** The time in which the texts fill the queues. */
const settleMs = 3000;
const script = fileURLToPath(new URL("./long-text-flood.ts", import.meta.url));

/** Starts a process that keeps the texts in flight until it is stopped. */
const startFlood = (flood: Flood) => {
  const child = spawn(process.execPath, [script, JSON.stringify(flood)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, "exit");
  const failed = ended.then(() => {
    throw new Error("The process with the long texts has ended.");
  });
  failed.catch(() => undefined); // reported when its figures are read
  return {
    /** The audio that was received so far. */
    seconds: async (): Promise<number> => {
      child.stdin.write("\n");
      const [line] = await Promise.race([once(lines, "line"), failed]);
      return Number(line);
    },
    stop: async (): Promise<void> => {
      child.kill("SIGKILL");
      await ended;
      await delay(settleMs);
    },
  };
};

const bench = async (url: string, voice: string): Promise<void> => {
  const website = await registerWebsite(url);
  const others: Credentials[] = [];
  for (let n = 0; n < keys; n++) others.push(await registerWebsite(url, { requestsPerMinute: 1000 }));
  let sentences = 0;
  const request = async (): Promise<void> => {
    const text = `Hello there, number ${++sentences}.`;
    const response = await synthesizeByPost(url, website, { voice, text });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`answered with ${response.status}`);
  };
  const ask = async (times: number[]): Promise<void> => {
    const asked: Promise<number>[] = [];
    for (let n = 0; n < sentencesPerPhase; n++) {
      const time = milliseconds(request);
      time.catch(() => {}); // reported below, after the last request is sent
      asked.push(time);
      await delay(pauseMs);
    }
    times.push(...(await Promise.all(asked)));
  };
  /** Measures while `flood` runs. Returns the seconds of audio that it received per second. */
  const during = async (flood: ReturnType<typeof startFlood>, times: number[]): Promise<number> => {
    await delay(settleMs);
    const [before, began] = [await flood.seconds(), performance.now()];
    await ask(times);
    return (((await flood.seconds()) - before) * 1000) / (performance.now() - began);
  };

  await ask([]);
  const [crowded, idle, shared, alone]: number[][] = [[], [], [], []];
  for (let phase = 0; phase < phases; phase++) {
    await ask(idle ?? []);
    const flood = startFlood({ url, voice, websites: others, inFlight });
    shared?.push(await during(flood, crowded ?? []));
    await flood.stop();
    const single = startFlood({ url, voice, websites: others.slice(0, 1), inFlight });
    alone?.push(await during(single, []));
    await single.stop();
  }
  const name = `short sentence beside ${keys} keys with ${inFlight} long texts, ${voice}`;
  const sentence = { name, unit: "ms", aim: { atMost: 3 } };
  const highest = (times: number[] = []) => [
    times.sort((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? Number.NaN,
  ];
  console.log(JSON.stringify(figuresOf(sentence, { ours: crowded ?? [], bare: idle ?? [] })));
  const p95 = { ...sentence, name: `${name}: 95th percentiles` };
  console.log(JSON.stringify(figuresOf(p95, { ours: highest(crowded), bare: highest(idle) })));
  const pace = { name: `audio per second, ${voice}, beside one key`, unit: "s/s", aim: { atLeast: 0.9 } };
  console.log(JSON.stringify(figuresOf(pace, { ours: shared ?? [], bare: alone ?? [] })));
};

await inTemporaryFolder(async (folder) => {
  const service = await startInstance(folder, { MAX_TEXT_CHARACTERS: "5000" });
  try {
    for (const voice of voices) await bench(service.url, voice);
  } finally {
    await service.stop();
  }
});
