import type { NewServing } from "../../src/ledger/ledger.ts";

/** A response with audio to record. */
export const servedAudio = (changes: Partial<NewServing> = {}): NewServing => ({
  requestId: "r-1",
  hash: "ab".repeat(32),
  characters: 11,
  engine: "g1",
  voice: "UK English Female",
  lang: "en-GB",
  format: "mp3",
  cached: "miss",
  ...changes,
});
