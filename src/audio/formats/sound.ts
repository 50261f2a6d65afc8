import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import type { Recipe } from "../../domain/synthesis/recipe.ts";
import type { Provenance } from "../../domain/usage/usage.ts";
import type { ObjectName } from "../store/audio-store.ts";

/** One way to answer a request. */
export interface Rendition {
  readonly recipe: Recipe;
  /** `hashRecipe(recipe)`. */
  readonly hash: string;
  /** `objectName(recipe, hash)`. */
  readonly name: ObjectName;
  /** Whether the text is an SSML document: a matter of the text alone, so that the recipe need not hold it. */
  readonly ssml: boolean;
  /** What the ledger calls the voice. */
  readonly voice: string;
  /** The engine's system voice, told in `failed` when it did. */
  readonly systemVoice: string;
}

export interface Sound {
  readonly hash: string;
  readonly name: ObjectName;
  /** Shared with everybody else who asks: not to be written to. */
  readonly bytes: Buffer;
  readonly format: AudioFormat;
  readonly provenance: Provenance;
  /** The rendition that it is. */
  readonly rendition: Rendition;
  /** The system voices of the takes before it, which failed. */
  readonly failed: readonly string[];
}

/** The length of a sound. Seconds are `samples / sampleRate`. */
export interface SoundLength {
  readonly samples: number;
  /** In Hz. */
  readonly sampleRate: number;
}

export const soundOf = (
  rendition: Rendition,
  bytes: Buffer,
  provenance: Provenance,
  failed: readonly string[] = [],
): Sound => ({
  hash: rendition.hash,
  name: rendition.name,
  bytes,
  format: rendition.recipe.format,
  provenance,
  rendition,
  failed,
});
