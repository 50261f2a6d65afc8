/**
 * A child process for the tests of the filesystem store: `put-until-killed.ts PATH
 * many|large|stranger`.
 */
import { writeSync } from "node:fs";
import { type AudioStore, AudioStoreUnavailable } from "../../../src/audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { nameOf, objectOf, soundOf } from "../pipeline/sounds.ts";

const [path = "", mode] = process.argv.slice(2);

/** Written synchronously, so that the output lists exactly the completed puts. */
const report = (line: string): void => {
  writeSync(1, `${line}\n`);
};

const outcome = (run: Promise<unknown>): Promise<string> =>
  run.then(
    () => "done",
    (error: unknown) =>
      error instanceof AudioStoreUnavailable
        ? `AudioStoreUnavailable ${(error.cause as NodeJS.ErrnoException).code}`
        : String(error),
  );

const putForEver = async (store: AudioStore): Promise<void> => {
  let next = process.pid * 1000;
  const putNext = async (): Promise<void> => {
    for (;;) {
      const index = next++;
      await store.put(nameOf(index), objectOf(soundOf(index)));
      report(String(index));
    }
  };
  await Promise.all(Array.from({ length: 16 }, putNext));
};

const store = await openFilesystemAudioStore({ path });
if (mode === "many") await putForEver(store);
if (mode === "large") report(await outcome(store.put(nameOf(1), objectOf(soundOf(1, 1024 * 1024)))));
if (mode === "stranger") {
  if (process.getuid?.() === 0) process.setuid?.(65_534); // root may write to a read-only directory
  const put = await outcome(store.put(nameOf(2), objectOf(soundOf(2))));
  const ping = await outcome(store.ping());
  const get = soundOf(1).equals((await store.get(nameOf(1)))?.bytes ?? Buffer.alloc(0))
    ? "whole"
    : "not whole";
  report(JSON.stringify({ put, ping, get }));
}
