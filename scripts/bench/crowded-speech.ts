/**
 * Milliseconds for a new short sentence requested with one key while ten other keys keep 64 texts of 5,000 characters in
 * flight each; compared with the same requests without that load, in alternating phases. The ten keys have the limits of a commercial plan, and retry refused requests. Then the sound that is spoken per
 * second with the ten keys and the sentences, compared with one key alone, whose texts are served in the order of their
 * arrival.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type Credentials, registerWebsite, synthesizeByPost } from "../../test/support/client.ts";
import { startInstance } from "../../test/support/instance.ts";
import { figuresOf, milliseconds } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

/** Spoken by espeak-ng and by flite. */
const voices = ["UK English Female", "US English Female"];
const keys = 10;
const inFlight = 64;
const phases = 3;
const sentencesPerPhase = 40;
/** The time in which the texts fill the queues. */
const settleMs = 3000;

const words = "the old man came down from the hills and brought his dog a bundle of wood and two sheep".split(
  " ",
);
let texts = 0;
const longText = (): string => {
  const parts: string[] = [`Story ${++texts}.`];
  for (let size = 0; size < 4900; ) {
    const sentence = `${Array.from({ length: 14 }, () => words[Math.floor(Math.random() * words.length)]).join(" ")}.`;
    parts.push(sentence);
    size += sentence.length + 1;
  }
  return parts.join(" ");
};

/** With jitter: refused requests do not return all at once. */
const retryAfterMs = ({ headers }: Response): number =>
  1000 * Number(headers.get("retry-after")) * (1 + Math.random());

/** Keeps the texts in flight until it is stopped. */
const startFlood = (url: string, websites: readonly Credentials[], voice: string) => {
  const stopping = new AbortController();
  const { signal } = stopping;
  let seconds = 0;
  const keepAsking = async (website: Credentials): Promise<void> => {
    while (!signal.aborted) {
      const answer = await synthesizeByPost(url, website, { voice, text: longText() }, { signal });
      await answer.arrayBuffer();
      if (answer.status === 200) seconds += Number(answer.headers.get("x-audio-duration"));
      else await delay(retryAfterMs(answer), undefined, { signal });
    }
  };
  const asking = websites.flatMap((website) =>
    Array.from({ length: inFlight }, () =>
      keepAsking(website).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      }),
    ),
  );
  return {
    seconds: () => seconds,
    stop: async () => {
      stopping.abort();
      await Promise.all(asking);
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
    const answer = await synthesizeByPost(url, website, { voice, text });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`answered with ${answer.status}`);
  };
  const ask = async (times: number[]): Promise<void> => {
    for (let n = 0; n < sentencesPerPhase; n++) times.push(await milliseconds(request));
  };
  /** Sound per second of time. */
  const during = async (flood: ReturnType<typeof startFlood>, times: number[]): Promise<number> => {
    await delay(settleMs);
    const [before, began] = [flood.seconds(), performance.now()];
    await ask(times);
    await delay(10 * settleMs);
    return ((flood.seconds() - before) * 1000) / (performance.now() - began);
  };

  await ask([]);
  const [crowded, idle, shared, alone]: number[][] = [[], [], [], []];
  for (let phase = 0; phase < phases; phase++) {
    await ask(idle ?? []);
    const flood = startFlood(url, others, voice);
    shared?.push(await during(flood, crowded ?? []));
    await flood.stop();
    const single = startFlood(url, others.slice(0, 1), voice);
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
  const sound = { name: `sound per second, ${voice}, beside one key`, unit: "s/s", aim: { atLeast: 0.9 } };
  console.log(JSON.stringify(figuresOf(sound, { ours: shared ?? [], bare: alone ?? [] })));
};

await inTemporaryFolder(async (folder) => {
  const service = await startInstance(folder, { MAX_TEXT_CHARACTERS: "5000" });
  try {
    for (const voice of voices) await bench(service.url, voice);
  } finally {
    await service.stop();
  }
});
