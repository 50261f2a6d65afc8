import type { EpochMs } from "../../domain/time.ts";
import type { AudioReads } from "../pipeline/audio-reads.ts";
import { legacyFolder } from "../pipeline/legacy-names.ts";

/** Until the time `until`, reads also find public audio under the names of earlier versions. */
export const withLegacyAddresses = (
  { statAudio, readAudio }: AudioReads,
  until: EpochMs,
  clock: () => EpochMs,
): AudioReads => {
  const formerNames = (name: string): string[] =>
    clock() < until && name.startsWith("public/") ? [name.replace(/^public/, legacyFolder)] : [];
  return {
    statAudio: async (name, signal) => {
      const found = await statAudio(name, signal);
      const [former] = found ? [] : formerNames(name);
      return former === undefined ? found : await statAudio(former, signal);
    },
    readAudio: async function* (name, range, options) {
      let isFound = false;
      for await (const part of readAudio(name, range, options)) {
        isFound = true;
        yield part;
      }
      for (const former of isFound ? [] : formerNames(name)) yield* readAudio(former, range, options);
    },
  };
};
