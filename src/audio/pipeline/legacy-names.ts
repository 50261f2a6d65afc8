import { hash } from "node:crypto";
import { isByok } from "../../domain/synthesis/byok-providers.ts";
import { audioName, type Recipe } from "../../domain/synthesis/recipe.ts";
import { prosodyParameters } from "../../domain/synthesis/speech.ts";
import { isSsml } from "../../domain/text/is-ssml.ts";

/*
 * Version 0.1 named audio by the SHA-256 of its recipe. Public audio under such names is deleted
 * (src/audio/legacy/). Audio of websites' own providers was paid for: it is found by its former
 * name, and moved at its first use after the upgrade. Version 0.1 read texts that begin with
 * `<speak` as SSML and all others as plain text, so a text that is read in another way has no
 * former name. This file can be removed when no store holds such audio.
 */

/** The folder of public audio under names that anybody can compute. */
export const legacyFolder = "audio";

/** The former name of audio of a website's own provider; undefined for any other. */
export const legacyName = (recipe: Recipe): string | undefined =>
  isByok(recipe.engine) && recipe.textFormat === (isSsml(recipe.text) ? "ssml" : "plain")
    ? audioName(recipe, hash("sha256", JSON.stringify(legacyForm(recipe))))
    : undefined;

const legacyPipelineVersion = 5;

const legacyForm = (recipe: Recipe) => [
  legacyPipelineVersion,
  recipe.tools,
  recipe.engine,
  recipe.voice,
  recipe.lang,
  recipe.text.normalize("NFC"),
  prosodyParameters
    .filter((parameter) => recipe.applied.includes(parameter))
    .map((parameter) => [parameter, recipe.prosody[parameter]]),
  recipe.format,
  recipe.websiteId ?? null,
  ...(recipe.replacements === undefined ? [] : [recipe.replacements]),
  ...(recipe.instructions === undefined ? [] : [{ instructions: recipe.instructions.normalize("NFC") }]),
];
