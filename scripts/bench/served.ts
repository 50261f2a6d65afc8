import { engineCodes } from "../../src/domain/synthesis/speech.ts";
import type { SynthesisServed } from "../../src/domain/usage/usage.ts";
import { uuidv7 } from "../../src/eventstore/uuid.ts";

/** The nth synthesis of November 2026, each different. */
export const servedAs = (n: number): SynthesisServed => ({
  requestId: uuidv7(n),
  hash: n.toString(16).padStart(64, "0"),
  characters: 20 + (n % 400),
  engine: engineCodes[n % engineCodes.length] ?? "g1",
  voice: `Voice ${n % 60}`,
  lang: "en-GB",
  format: "mp3",
  cached: "store",
  at: new Date(Date.UTC(2026, 10, 1) + n * 12_000).toISOString(),
});
