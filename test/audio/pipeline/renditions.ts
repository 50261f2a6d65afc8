import { createSecretKey } from "node:crypto";
import type { Rendition } from "../../../src/audio/pipeline/audio.ts";
import { audioName, hashRecipe, type Recipe } from "../../../src/domain/synthesis/recipe.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";

export const namingKey = createSecretKey(Buffer.alloc(32, 9));

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
    textFormat: "plain",
    prosody: normalProsody,
    applied: ["rate"],
    format: "mp3",
    ...overrides,
  };
  const hash = hashRecipe(namingKey, recipe);
  return { recipe, hash, name: audioName(recipe, hash), ssml: false, voice: "UK English", systemVoice };
};
