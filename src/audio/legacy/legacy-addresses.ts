import { legacyFolder } from "../../domain/synthesis/legacy-names.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";

/** Until that time, in milliseconds since the epoch, public objects are found under the names of earlier versions too. */
export const withLegacyAddresses =
  (getObject: Pipeline["getObject"], until: number, now: () => number): Pipeline["getObject"] =>
  async (name, signal) => {
    const found = await getObject(name, signal);
    if (found || now() >= until || !name.startsWith("public/")) return found;
    return await getObject(name.replace(/^public/, legacyFolder), signal);
  };
