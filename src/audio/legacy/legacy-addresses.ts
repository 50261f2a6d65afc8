import { legacyFolder } from "../pipeline/legacy-names.ts";
import type { ObjectReads } from "../pipeline/object-reads.ts";

/** Until that time, in milliseconds since the epoch, public objects are found under the names of earlier versions too. */
export const withLegacyAddresses = (
  { statObject, readObject }: ObjectReads,
  until: number,
  now: () => number,
): ObjectReads => {
  const formerNames = (name: string): string[] =>
    now() < until && name.startsWith("public/") ? [name.replace(/^public/, legacyFolder)] : [];
  return {
    statObject: async (name, signal) => {
      const found = await statObject(name, signal);
      const [former] = found ? [] : formerNames(name);
      return former === undefined ? found : await statObject(former, signal);
    },
    readObject: async function* (name, range, options) {
      let isFound = false;
      for await (const part of readObject(name, range, options)) {
        isFound = true;
        yield part;
      }
      for (const former of isFound ? [] : formerNames(name)) yield* readObject(former, range, options);
    },
  };
};
