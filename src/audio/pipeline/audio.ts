import type { AudioSource } from "../../domain/ledger/journal/serving.ts";
import type { Replacement } from "../../domain/lexicons/replacements.ts";
import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import type { Recipe } from "../../domain/synthesis/recipe.ts";
import type { AudioContent, AudioName } from "../store/audio-store.ts";

/** One way to serve a request: a recipe and its object. */
export interface Rendition {
  readonly recipe: Recipe;
  /** The result of `hashRecipe(namingKey, recipe)`. */
  readonly hash: string;
  /** The result of `audioName(recipe, hash)`. */
  readonly name: AudioName;
  /**
   * True if the engine gets SSML. The recipe does not state this, because it follows from the text
   * and its replacements.
   */
  readonly ssml: boolean;
  /**
   * The engine gets this instead of the recipe's text: canonical SSML, or the text with a lexicon's
   * replacements or without markup.
   */
  readonly document?: string;
  /**
   * The characters that are read instead of those of the recipe's text, if the text is Markdown.
   */
  readonly reading?: readonly Replacement[];
  /** The replacements in `document` by the website's lexicons. */
  readonly replacements?: readonly Replacement[];
  /** True if marks belong to its audio. */
  readonly hasMarks?: boolean;
  /** True if the recipe gives the same samples on every machine. */
  readonly isReproducible?: boolean;
  /** The voice that the ledger records. */
  readonly voice: string;
  /** The name of this rendition in `failed`, if it fails. */
  readonly systemVoice: string;
}

/** Its bytes are shared: do not modify them. */
export interface Audio extends AudioContent {
  readonly hash: string;
  readonly name: AudioName;
  readonly format: AudioFormat;
  readonly source: AudioSource;
  /** The rendition that gave this audio. */
  readonly rendition: Rendition;
  /** System voices of the renditions that failed before this one. */
  readonly failed: readonly string[];
}

/** The facts about audio without its bytes. */
export interface KnownAudio extends Pick<Audio, "rendition" | "source" | "length"> {
  /** The number of bytes. */
  readonly size: number;
}

export const audioOf = (
  rendition: Rendition,
  { bytes, length }: AudioContent,
  source: AudioSource,
  failed: readonly string[] = [],
): Audio => ({
  hash: rendition.hash,
  name: rendition.name,
  bytes,
  length,
  format: rendition.recipe.format,
  source,
  rendition,
  failed,
});
