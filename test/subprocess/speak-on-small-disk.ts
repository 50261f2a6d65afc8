import { mkdtempSync, readdirSync } from "node:fs";
import { ffmpegEncoder } from "../../src/audio/formats/ffmpeg-encoder.ts";
import { createMemoryCache } from "../../src/audio/pipeline/memory-cache.ts";
import { createPipeline } from "../../src/audio/pipeline/pipeline.ts";
import { openFilesystemAudioStore } from "../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { localEngines } from "../../src/engines/local/local-engine.ts";
import { openSubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { renditionOf } from "../audio/pipeline/renditions.ts";

/** Prints the result of a 40 s synthesis (1.3 MB of flite output) and the content of the audio store afterwards. */
const text =
  "The quick brown fox jumps over the lazy dog, and then it goes home to its four children. ".repeat(3);
const host = await openSubprocessHost({ encodersAhead: { mp3: 0, ogg: 0 } });
const engines = await localEngines({ host });
const folder = mkdtempSync("/run/voxledger-test-");
const store = await openFilesystemAudioStore({ path: folder });
const pipeline = createPipeline({
  engines: ({ engine }) => engines.find(({ code }) => code === engine),
  encoder: ffmpegEncoder(host),
  store,
  cache: createMemoryCache({ maxBytes: 0 }),
});
const slow = { pitch: 1, rate: 0.4, volume: 1 };
const take = renditionOf(text, { voice: "flite:slt", prosody: slow, applied: ["rate"] });
const outcome = await pipeline.obtain([take], new AbortController().signal).then(
  ({ bytes }) => ({ bytes: bytes.length }),
  (error: Error) => ({ bytes: 0, failure: `${error.name}: ${error.message}` }),
);
await pipeline.drain(10_000);
await Promise.all([host.close(), store.close()]);
const objects = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
  entry.isFile(),
);
console.log(JSON.stringify({ ...outcome, objects: objects.map(({ name }) => name) }));
