import type { Rendition } from "../../../src/audio/formats/sound.ts";
import { hashRecipe, objectName, type Recipe } from "../../../src/domain/synthesis/recipe.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";

/** A rendition of this text with plain defaults. */
export const renditionOf = (
  text: string,
  more: Partial<Recipe> & { systemVoice?: string } = {},
): Rendition => {
  const { systemVoice = "a voice", ...overrides } = more;
  const recipe: Recipe = {
    tools: "test",
    engine: "g1",
    voice: "espeak:gmw/en",
    lang: "en-US",
    text,
    prosody: normalProsody,
    applied: ["rate"],
    format: "mp3",
    ...overrides,
  };
  const hash = hashRecipe(recipe);
  return { recipe, hash, name: objectName(recipe, hash), ssml: false, voice: "UK English", systemVoice };
};
