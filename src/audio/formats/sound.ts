import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import type { Recipe } from "../../domain/synthesis/recipe.ts";
import type { Provenance } from "../../domain/usage/usage.ts";
import type { ObjectName } from "../store/audio-store.ts";

/** One way to answer a request: a recipe and its object. */
export interface Rendition {
  readonly recipe: Recipe;
  /** `hashRecipe(recipe)`. */
  readonly hash: string;
  /** `objectName(recipe, hash)`. */
  readonly name: ObjectName;
  /** Depends on the text alone, so that the recipe does not contain it. */
  readonly ssml: boolean;
  /** The voice in the ledger. */
  readonly voice: string;
  /** Listed in `failed` if this rendition fails. */
  readonly systemVoice: string;
}

export interface Sound {
  readonly hash: string;
  readonly name: ObjectName;
  /** Shared: do not modify it. */
  readonly bytes: Buffer;
  readonly format: AudioFormat;
  readonly provenance: Provenance;
  /** The rendition that it is. */
  readonly rendition: Rendition;
  /** System voices of the renditions that failed before this one. */
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
