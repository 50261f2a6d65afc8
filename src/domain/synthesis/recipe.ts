import { hash } from "node:crypto";
import { type AudioFormat, audioExtensions, extensionPattern, formats } from "./formats.ts";
import { marksExtension } from "./marks.ts";
import { type EngineCode, type Knob, knobs, type Prosody } from "./speech.ts";

/**
 * The version of the service's own processing of a recipe: prosody to tool arguments, text to tool input, samples to file.
 * Must change with every change of that processing, or the store keeps serving the old audio; a test enforces it.
 */
export const pipelineVersion = 5;

/** Exactly the inputs that determine the bytes of a sound. */
export interface Recipe {
  /** Versions of the tools that produce the bytes. */
  readonly tools: string;
  readonly engine: EngineCode;
  /** The engine's own name for the voice. */
  readonly voice: string;
  readonly lang: string;
  /** As sent; normalised to NFC here. */
  readonly text: string;
  readonly prosody: Prosody;
  /** The prosody parameters that the engine applies: the others do not affect the bytes and are excluded. */
  readonly applied: readonly Knob[];
  readonly format: AudioFormat;
  /** The website whose credentials the engine uses; its audio is never served to another website. */
  readonly websiteId?: string;
  /** `replacementsDigest` of what the website's lexicons replace in the text; absent if they replace nothing. */
  readonly replacements?: string;
  /** How to speak, in words, as sent to a voice that follows them. Normalised to NFC here. */
  readonly instructions?: string;
}

/** The recipe's content address: SHA-256 of its canonical form, 64 hexadecimal digits. */
export const hashRecipe = (recipe: Recipe): string => hash("sha256", JSON.stringify(canonical(recipe)));

/** The name of the recipe's object in the audio store; only `audio/` may ever be served without credentials. */
export const objectName = (recipe: Pick<Recipe, "format" | "websiteId">, hash: string): string =>
  `${recipe.websiteId === undefined ? "audio" : "private"}/${hash}.${formats[recipe.format].extension}`;

/** The names of all objects that may exist under this hash. */
export const objectNamesOf = (hash: string): string[] =>
  ["audio", "private"].flatMap((prefix) =>
    [...audioExtensions, marksExtension].map((extension) => `${prefix}/${hash}.${extension}`),
  );

/**
 * The name of an object, created only by `objectName`: `audio/{hash}.{ext}` is public, `private/{hash}.{ext}` belongs to one
 * website. Its marks have the extension `marks.json`.
 */
export const isObjectName = (name: string): boolean => objectNamePattern.test(name);

const objectNamePattern = new RegExp(
  `^(?:audio|private)/[0-9a-f]{64}\\.(?:${extensionPattern}|${marksExtension.replace(".", "\\.")})$`,
);

const canonical = (recipe: Recipe) => [
  pipelineVersion,
  recipe.tools,
  recipe.engine,
  recipe.voice,
  recipe.lang,
  recipe.text.normalize("NFC"),
  knobs.filter((knob) => recipe.applied.includes(knob)).map((knob) => [knob, recipe.prosody[knob]]),
  recipe.format,
  recipe.websiteId ?? null,
  ...(recipe.replacements === undefined ? [] : [recipe.replacements]),
  ...(recipe.instructions === undefined ? [] : [{ instructions: recipe.instructions.normalize("NFC") }]),
];
