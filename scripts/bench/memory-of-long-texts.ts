/**
 * Measures the memory of all processes of the service (PSS) while 16 keys keep the largest texts in
 * flight. These have 5,000 characters of prose, digits, other scripts and SSML. espeak-ng and flite
 * speak them, in mp3 and ogg. Compares the highest of all samples with the limit.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type Credentials, registerWebsite, synthesizeByPost } from "../../test/support/client.ts";
import { startInstance } from "../../test/support/instance.ts";
import { pssOfTree } from "./process-memory.ts";
import { figuresOf } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const maxMegabytes = 600;
const loadSeconds = 90;
const websites = 16;
const inFlightPerWebsite = 16;
const characters = 5000;

const bodies = [
  {
    voice: "UK English Female",

    unit: "The old man came down from the hills, and his dog followed. ",
  },
  { voice: "Welsh Male", unit: "7319046528" },
  { voice: "US English Female", unit: "Nobody had seen the river before. " },
  { voice: "French Female", unit: "Le vieil homme descendit de la montagne. ", rate: 0 },
  { voice: "Russian Female", unit: "Старик спустился с гор. " },
  { voice: "UK English Female", unit: '<s>Once more.</s><break time="9s"/>', ssml: true },
] as const;

let texts = 0;
const newBody = () => {
  const { unit, ...body } = bodies[texts % bodies.length] ?? bodies[0];
  const isSsml = "ssml" in body;
  const [open, close] = isSsml ? ["<speak>", "</speak>"] : ["", ""];
  const begin = `${open}${isSsml ? `<s>Number ${++texts}.</s>` : `Number ${++texts}. `}`;
  const room = characters - begin.length - close.length;
  const text = begin + unit.repeat(Math.floor(room / unit.length)) + close;
  const { voice } = body;
  return { text, voice, ...("rate" in body && { rate: body.rate }) };
};

await inTemporaryFolder(async (folder) => {
  const service = await startInstance(folder, {
    BURST_LIMIT: "1000000",
    MAX_TEXT_CHARACTERS: String(characters),
  });
  const stopping = new AbortController();
  const { signal } = stopping;
  const counts = new Map<number, number>();
  const keepAsking = async (website: Credentials): Promise<void> => {
    while (!signal.aborted) {
      const response = await synthesizeByPost(service.url, website, newBody(), { signal });
      const text =
        response.status === 200 ? String((await response.arrayBuffer()).byteLength) : await response.text();
      counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
      if (![200, 429, 503].includes(response.status))
        throw new Error(`answered with ${response.status}, ${text}`);
      if (response.status !== 200) await delay(1000 * (1 + Math.random()), undefined, { signal });
    }
  };
  try {
    const callers: Credentials[] = [];
    for (let n = 0; n < websites; n++) callers.push(await registerWebsite(service.url));
    const asking = callers.flatMap((website) =>
      Array.from({ length: inFlightPerWebsite }, () =>
        keepAsking(website).catch((error: unknown) => {
          if (!signal.aborted) throw error;
        }),
      ),
    );
    const load = Promise.all(asking);
    const samples: number[] = [];
    for (const end = Date.now() + loadSeconds * 1000; Date.now() < end; ) {
      await Promise.race([delay(500), load]);
      samples.push(pssOfTree(service.pid));
    }
    stopping.abort();
    await load;
    if (!counts.get(200)) throw new Error("no text was spoken");
    const name = `memory under the largest texts, PSS of all processes (${counts.get(200)} spoken)`;
    const subject = { name, unit: "MB", aim: { atMost: 1 } };
    console.log(JSON.stringify(figuresOf(subject, { ours: [Math.max(...samples)], bare: [maxMegabytes] })));
  } finally {
    await service.stop();
  }
});
