/**
 * Measures natural voices with new sentences, one at a time with a loaded model. Measures the
 * milliseconds to the first byte of an mp3 over HTTP, and the memory of the speaker process.
 * Measures the CPU time of all processes for a second of speech, and the share of each process.
 * Compares these with their limits. Then measures the first byte while the service speaks the
 * samples of its gallery, and compares it with that of a service without samples. The limits are
 * meant for an idle machine, so its load is printed too.
 */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Agent, type IncomingMessage, request } from "node:http";
import { createRequire } from "node:module";
import { loadavg } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { measureAudio } from "../../src/audio/formats/containers.ts";
import { naturalVoicesFolder } from "../../src/engines/natural-voices/natural-voices.ts";
import { loadEnglish } from "../../src/natural/english/load.ts";
import { openOnnxSession } from "../../src/natural/onnx/session.ts";
import { harvardSentences } from "../../test/listen/harvard-sentences.ts";
import { admin, authorize, type Credentials, registerWebsite } from "../../test/support/client.ts";
import { descendantsOf } from "../../test/support/processes.ts";
import { type RunningService, startService } from "../../test/support/service.ts";
import { cpuMilliseconds } from "./cpu-time.ts";
import { rssOf } from "./process-memory.ts";
import { figuresOf } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

/** Speech of about 2.5 seconds each. */
const sentences = harvardSentences;
/**
 * The limits of the first byte with a loaded model, of CPU seconds for a second of speech, and of
 * memory in megabytes.
 */
const limits = { firstByteMs: 150, cpu: 0.06, rss: 250 };
const voices = [
  { name: "US English Female", program: "hibari" },
  { name: "UK English Female", program: "pico" },
] as const;
/** The largest text that a speaker gets at once. */
const longest = `${Array(7).fill("The birch canoe slid on the smooth planks").join(" and ")}.`;

const print = (name: string, unit: string, ours: readonly number[], atMost: number): void => {
  console.log(JSON.stringify(figuresOf({ name, unit, aim: { atMost: 1 } }, { ours, bare: [atMost] })));
};

const agent = new Agent({ keepAlive: true });

interface Heard {
  readonly firstByteMs: number;
  readonly seconds: number;
}

const listen = async (url: string, website: Credentials, voice: string, text: string): Promise<Heard> => {
  const body = JSON.stringify({ voice, text, format: "mp3" });
  const headers = { ...authorize(website), "Content-Type": "application/json" };
  const began = performance.now();
  const sent = request(`${url}/v2/text/synthesize`, { method: "POST", agent, headers }).end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  if (response.statusCode !== 200 || response.headers["svc-cached"] !== "miss")
    throw new Error(`answered with ${response.statusCode}, ${response.headers["svc-cached"]}`);
  await once(response, "readable");
  const firstByteMs = performance.now() - began;
  const length = measureAudio("mp3", await buffer(response));
  if (!length) throw new Error("answered with something else than mp3");
  return { firstByteMs, seconds: length.samples / length.sampleRate };
};

const commandLine = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, "utf8");

const speakerOf = async (service: number, program: string): Promise<number> => {
  for (;;) {
    const found = descendantsOf(service).find(({ pid }) => commandLine(pid).includes(`models/${program}/`));
    if (found) return found.pid;
    await delay(50);
  }
};

/**
 * CPU time of the service's process, of the speaker and of the helper, which runs pipes and the
 * encoder; and of all three.
 */
const cpuOf = (service: number, speaker: number) => {
  const all = cpuMilliseconds(service);
  const helper = descendantsOf(service).find(({ pid }) => commandLine(pid).includes("subprocess/host/main"));
  const [ofHelper, ofSpeaker] = [cpuMilliseconds(helper?.pid ?? 0), cpuMilliseconds(speaker)];
  return { all, service: all - ofHelper, helper: ofHelper - ofSpeaker, speaker: ofSpeaker };
};

/**
 * Resolves with a website when the voice is loaded. On a busy machine, that may take longer than
 * the first requests wait.
 */
const warmUp = async (url: string, voice: string): Promise<Credentials> => {
  const website = await registerWebsite(url);
  const speak = (count: number) => listen(url, website, voice, `Warm up the voice, number ${count}.`);
  for (let count = 0; count < 5; count++) await speak(count).catch(() => delay(1000));
  await speak(5);
  return website;
};

const listenToAll = async (url: string, website: Credentials, voice: string) => {
  const firstBytes: number[] = [];
  let seconds = 0;
  for (const text of sentences) {
    const heard = await listen(url, website, voice, text);
    firstBytes.push(heard.firstByteMs);
    seconds += heard.seconds;
  }
  return { firstBytes, seconds };
};

interface Spoken {
  readonly firstBytes: readonly number[];
  readonly seconds: number;
}

const bench = async (
  url: string,
  pid: number,
  { name, program }: (typeof voices)[number],
): Promise<Spoken> => {
  const website = await warmUp(url, name);
  const speaker = await speakerOf(pid, program);
  const before = cpuOf(pid, speaker);
  const { firstBytes, seconds } = await listenToAll(url, website, name);
  const after = cpuOf(pid, speaker);
  await listen(url, website, name, longest);
  const mean = (seconds / sentences.length).toFixed(1);
  print(`first byte of a sentence of ${mean} s, ${program}`, "ms", firstBytes, limits.firstByteMs);
  for (const share of ["all", "service", "helper", "speaker"] as const) {
    const cpu = (after[share] - before[share]) / 1000 / seconds;
    print(`CPU time for a second of speech, ${program}, ${share}`, "s", [cpu], limits.cpu);
  }
  print(`RSS of the speaker, ${program}`, "MB", [rssOf(speaker)], limits.rss);
  return { firstBytes, seconds };
};

/** `alone`: the first bytes of a service without samples to speak. */
const benchBesideGallery = async (
  url: string,
  { name, program }: (typeof voices)[number],
  alone: readonly number[],
): Promise<void> => {
  const website = await warmUp(url, name);
  const samplesSpoken = async (): Promise<number> => {
    const { body } = await admin(url, "GET", "/events?type=SampleSpoken&limit=100");
    return (body.entries as readonly unknown[]).length;
  };
  while ((await samplesSpoken()) === 0) await delay(250);
  const { firstBytes } = await listenToAll(url, website, name);
  const named = {
    name: `first byte while samples are spoken, against the same alone, ${program}`,
    ...{ unit: "ms", aim: { atMost: 1.1 } },
  };
  console.log(JSON.stringify(figuresOf(named, { ours: firstBytes, bare: alone })));
};

/** CPU time of the English front end alone, in this process; its share is part of the speaker's. */
const benchFrontEnd = async (seconds: number): Promise<void> => {
  const folder = join(naturalVoicesFolder(process.env.NATURAL_VOICES_DIR) ?? "", "hibari");
  const resolve = createRequire(import.meta.url).resolve;
  const wasm = new Uint8Array(await readFile(resolve("onnxruntime-web/ort-wasm-simd-threaded.wasm")));
  const english = await loadEnglish("us", {
    read: (name) => readFile(join(folder, name)),
    openModel: (model) => openOnnxSession({ wasm, model }),
  });
  await english.read(longest);
  const before = process.cpuUsage();
  for (const text of sentences) await english.read(text);
  const { user, system } = process.cpuUsage(before);
  print(
    "CPU time for a second of speech, the front end of hibari",
    "s",
    [(user + system) / 1e6 / seconds],
    limits.cpu,
  );
};

const inService = (gallery: "on" | "off", run: (service: RunningService) => Promise<void>): Promise<void> =>
  inTemporaryFolder(async (folder) => {
    const settings = { BURST_LIMIT: "1000000", VOICES: "natural", VOICE_GALLERY: gallery };
    const service = await startService(folder, settings);
    try {
      await run(service);
    } finally {
      await service.stop();
    }
  });

console.error(
  `load: ${loadavg()
    .map((one) => one.toFixed(1))
    .join(" ")}`,
);
const alone: Spoken[] = [];
await inService("off", async ({ url, pid }) => {
  for (const voice of voices) alone.push(await bench(url, pid, voice));
});
const [hibari = { firstBytes: [], seconds: 0 }] = alone;
await benchFrontEnd(hibari.seconds);
await inService("on", ({ url }) => benchBesideGallery(url, voices[0], hibari.firstBytes));
agent.destroy();
