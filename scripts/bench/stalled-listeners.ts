/**
 * Measures the effect of 20 listeners that stop reading for 30 s in the middle of 48 MB of audio
 * each. Compares the milliseconds for a stream of 2 MB meanwhile with those before and after. At
 * the end, the 20 listeners read the rest.
 */
import { readFileSync } from "node:fs";
import { admin, type Credentials, registerWebsite } from "../../test/support/client.ts";
import { startService } from "../../test/support/service.ts";
import { type OpenStream, openStream } from "../../test/support/streams.ts";
import { serveLongSounds } from "../../test/support/wire/long-sound.ts";
import { figuresOf, milliseconds } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const voice = "alloy";
const stalls = 20;
const stallMs = 30_000;
const roundsBeside = 30;

const bench = async (url: string, website: Credentials, residentMb: () => number): Promise<void> => {
  let read = 0;
  const begin = (megabytes: number): Promise<OpenStream> =>
    openStream(url, website, { voice, text: `Sound number ${++read} has ${megabytes} MB.` });
  const request = () =>
    milliseconds(async () => {
      if ((await (await begin(2)).readAudio()).length < 2e6) throw new Error("the response is incomplete");
    });
  const beside = async (): Promise<number[]> => {
    const times: number[] = [];
    while (times.length < roundsBeside) times.push(await request());
    return times;
  };

  await beside();
  const before = await beside();
  const atRest = residentMb();
  const stalled = await Promise.all(Array.from({ length: stalls }, () => begin(48)));
  const meanwhile: number[] = [];
  for (const until = performance.now() + stallMs; performance.now() < until; )
    meanwhile.push(await request());
  const held = (residentMb() - atRest) / stalls;
  for (const stream of stalled) {
    let bytes = 0;
    for await (const chunk of stream.body) bytes += chunk.length;
    if (bytes < 48e6) throw new Error("the rest was not received");
  }
  const bare = [...before, ...(await beside())];
  const name = `stream of 2 MB beside ${stalls} that stand still (each holds ${held.toFixed(1)} MB of memory)`;
  console.log(
    JSON.stringify(figuresOf({ name, unit: "ms", aim: { atMost: 1.25 } }, { ours: meanwhile, bare })),
  );
};

await inTemporaryFolder(async (folder) => {
  const upstream = await serveLongSounds();
  const service = await startService(folder, {
    OPENAI_URL: upstream.url,
    BURST_LIMIT: "1000000",
    PROVIDER_CONCURRENCY: "64",
    PROVIDER_REQUESTS_PER_MINUTE: "100000",
    MEMORY_CACHE_BYTES: "0",
  });
  const residentMb = (): number =>
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.pid}/status`, "utf8"))?.[1]) / 1024;
  try {
    const website = await registerWebsite(service.url);
    const credentials = { apiKey: "sk-bench", voices: [voice] };
    await admin(service.url, "PUT", `/websites/${website.id}/credentials/oai`, credentials);
    await bench(service.url, website, residentMb);
  } finally {
    await service.stop();
    await upstream.close();
  }
});
