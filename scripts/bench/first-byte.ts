/**
 * Measures the milliseconds to the first audio byte of a new sentence through the service, for each
 * transport that streams. Each sentence is recorded before its first byte. Alternates with direct
 * requests to the same upstream, and compares.
 */

import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import { admin, authorize, registerWebsite } from "../../test/support/client.ts";
import { startService } from "../../test/support/service.ts";
import { makeSound } from "../../test/support/wire/made-sound.ts";
import { type Listen, listenByPost, listenBySocket } from "./first-bytes.ts";
import { startServer } from "./server-process.ts";
import { type Aim, figuresOf } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const voice = "alloy";
const firstAfterMs = 20;
/** Concurrent listeners do not start at the same instant; all have started after 21 ms. */
const apartMs = 3;
const aim: Aim = { addsAtMost: 5 };
/** The number of concurrent listeners, and the rounds per transport. */
const loads = [
  { atOnce: 1, rounds: 100, warmUps: 20 },
  { atOnce: 8, rounds: 30, warmUps: 5 },
];

let sentences = 0;
const freshSentence = (): string =>
  `This is sentence number ${++sentences}, which has never been synthesized before.`;

/** Runs one round per transport, alternating; returns the times per transport. */
const takeTurns = async (
  ways: Readonly<Record<string, Listen>>,
  { atOnce, rounds, warmUps }: (typeof loads)[number],
): Promise<Map<string, number[]>> => {
  const times = new Map<string, number[]>(Object.keys(ways).map((way) => [way, []]));
  for (let round = -warmUps; round < rounds; round++) {
    for (const [way, listen] of Object.entries(ways)) {
      const measured = await Promise.all(
        Array.from({ length: atOnce }, async (_, n) => {
          await delay(n * apartMs);
          return await listen(freshSentence());
        }),
      );
      if (round >= 0) times.get(way)?.push(...measured);
    }
  }
  return times;
};

const bench = async (upstream: string, service: string): Promise<void> => {
  const website = await registerWebsite(service);
  const headers = authorize(website);
  const { status } = await admin(service, "PUT", `/websites/${website.id}/credentials/oai`, {
    apiKey: "sk-bench",
    voices: [voice],
  });
  if (status >= 300) throw new Error(`the credentials were answered with ${status}`);
  const socket = new WebSocket(`${service.replace("http", "ws")}/v2/text/stream`, { headers });
  await once(socket, "open");
  const streamed = {
    url: `${service}/v2/text/synthesize`,
    headers: { ...headers, Accept: "text/event-stream" },
  };
  const direct = "the upstream itself";
  const ways = {
    [direct]: listenByPost({
      url: `${upstream}/v1/audio/speech`,
      headers: {},
      bodyOf: (input) => ({ model: "tts-1", input, voice, response_format: "mp3" }),
      containsAudio: () => true,
    }),
    "HTTP, audio": listenByPost({
      ...streamed,
      bodyOf: (text) => ({ voice, text }),
      containsAudio: () => true,
    }),
    "HTTP, events": listenByPost({
      ...streamed,
      bodyOf: (text) => ({ voice, text, stream: true }),
      containsAudio: (body) => body.includes("event: audio"),
    }),
    WebSocket: listenBySocket(socket, voice),
  };
  for (const load of loads) {
    const times = await takeTurns(ways, load);
    const bare = times.get(direct) ?? [];
    times.delete(direct);
    for (const [way, ours] of times) {
      const name = `first byte of a stream, ${way}, ${load.atOnce} at once`;
      console.log(JSON.stringify(figuresOf({ name, unit: "ms", aim }, { ours, bare })));
    }
  }
  socket.terminate();
};

await inTemporaryFolder(async (folder) => {
  const file = join(folder, "spoken.mp3");
  const format = { kind: "mp3", sampleRate: 24_000, kbitPerSecond: 64 } as const;
  await writeFile(file, await makeSound({ text: freshSentence(), voice: "gmw/en-US+f3", format }));
  const upstream = await startServer("./speech-upstream.ts", file, String(firstAfterMs));
  const service = await startService(join(folder, "data"), {
    OPENAI_URL: upstream.url,
    BURST_LIMIT: "1000000",
    PROVIDER_CONCURRENCY: "16",
    PROVIDER_REQUESTS_PER_MINUTE: "100000",
  });
  try {
    await bench(upstream.url, service.url);
  } finally {
    await service.stop();
    await upstream.stop();
  }
});
