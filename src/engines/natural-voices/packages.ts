import { createHash } from "node:crypto";
import { hibari } from "./hibari.ts";
import { kokoro } from "./kokoro.ts";
import { pico } from "./pico.ts";
import type { VoicePackage } from "./voice-package.ts";

export const voicePackages: readonly VoicePackage[] = [hibari, pico, kokoro];

/** Computes the digest of the files that the audio of a voice depends on. */
export const digestOfFiles = (files: VoicePackage["files"], needed: readonly string[]): string => {
  const hash = createHash("sha256");
  for (const file of [...needed].sort()) hash.update(`${file}\0${files[file]?.[1]}\n`);
  return hash.digest("hex").slice(0, 32);
};
