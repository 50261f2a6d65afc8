import { mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ffmpegEncoder } from "../../src/audio/formats/ffmpeg-encoder.ts";
import { createMemoryCache } from "../../src/audio/pipeline/memory-cache.ts";
import { createPipeline } from "../../src/audio/pipeline/pipeline.ts";
import { openFilesystemAudioStore } from "../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { openTemporaryFiles } from "../../src/audio/store/filesystem/temporary-files.ts";
import { localEngines } from "../../src/engines/local/engine.ts";
import { renditionOf } from "../audio/pipeline/renditions.ts";
import { openToolHost } from "../support/tool-host.ts";

/**
 * Prints the outcomes of a scenario and the content of the audio store afterwards. `one`: a 40 s
 * synthesis (1.3 MB of flite's output). `fill`: several, on a disk that is almost full; then it is
 * freed. `enospc`: a write that fills the disk, below the store's own check of the space.
 */
const scenario = process.argv[2];
const never = new AbortController().signal;
const host = await openToolHost();
const engines = await localEngines({ host });
const folder = mkdtempSync("/run/voxledger-test-");
const ballast = join("/run", "ballast");
const store = await openFilesystemAudioStore({ path: folder });
const pipeline = createPipeline({
  engines: ({ engine }) => engines.find(({ code }) => code === engine),
  encoder: ffmpegEncoder(host),
  store,
  cache: createMemoryCache({ maxBytes: 0 }),
});

const settled = <T>(work: Promise<T>, sizeOf: (made: T) => number) =>
  work.then(
    (made) => ({ bytes: sizeOf(made) }),
    (error: Error) => ({ bytes: 0, failure: `${error.name}: ${error.message}` }),
  );
const speak = (text: string, rate: number) => {
  const prosody = { pitch: 1, rate, volume: 1 };
  const take = renditionOf(text, { voice: "flite:slt", prosody, applied: ["rate"] });
  return settled(pipeline.obtain([take], never), ({ bytes }) => bytes.length);
};
/** Leaves this many bytes free. */
const fillUpTo = (bytes: number): void => {
  const { bavail, bsize } = statfsSync("/run");
  writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - bytes)));
};
const sentence = "The quick brown fox jumps over the lazy dog, and then it goes home to its four children. ";

const outcomes = [];
let health: string | undefined;
let isFull = false;
if (scenario === "one") outcomes.push(await speak(sentence.repeat(3), 0.4));
if (scenario === "fill") {
  fillUpTo(100_000); // less than the store keeps free
  for (let index = 0; index < 4; index++) outcomes.push(await speak(`Number ${index}.`, 1));
  while (!pipeline.stats().writes.isFull) await new Promise(setImmediate);
  ({ isFull } = pipeline.stats().writes);
  health = await store.ping().then(
    () => undefined,
    (error: Error) => error.message,
  );
  rmSync(ballast);
}
if (scenario === "enospc") {
  const files = await openTemporaryFiles(join(folder, "incoming"));
  fillUpTo(400_000);
  const bytes = Buffer.alloc(800_000, 1);
  const write = () =>
    settled(
      files.withFile([bytes], async () => bytes),
      ({ length }) => length,
    );
  outcomes.push(await write());
  rmSync(ballast);
  outcomes.push(await write());
}
const lost = await pipeline.drain(30_000);
await Promise.all([host.close(), store.close()]);
const objects = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
  entry.isFile(),
);
console.log(JSON.stringify({ outcomes, lost, isFull, health, objects: objects.map(({ name }) => name) }));
