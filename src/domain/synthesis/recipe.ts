import { createHmac, type KeyObject } from "node:crypto";
import { type AudioFormat, audioExtensions, extensionPattern, formats } from "./formats.ts";
import { marksExtension } from "./marks.ts";
import { type EngineCode, type Prosody, type ProsodyParameter, prosodyParameters } from "./speech.ts";

/** The inputs that determine the bytes of audio, and no others. */
export interface Recipe {
  readonly engine: EngineCode;
  /**
   * The value of `Engine.version`. It covers the engine's tools, and the service's own preparation
   * of text and prosody for the engine.
   */
  readonly tools: string;
  /**
   * The value of `Encoder.version`. Absent for premium audio, and for audio that is not
   * reproducible: the stored audio stays valid when the encoder changes.
   */
  readonly encoding?: string;
  /** The engine's own name for the voice. */
  readonly voice: string;
  readonly lang: string;
  /** The text as sent. `hashRecipe` normalises it to NFC. */
  readonly text: string;
  /** The format in which the text was read; for Markdown, with `markdownVersion`. */
  readonly textFormat: "plain" | "ssml" | `markdown ${number}`;
  readonly prosody: Prosody;
  /**
   * The prosody parameters that the engine applies: the others do not affect the bytes and are
   * excluded.
   */
  readonly applied: readonly ProsodyParameter[];
  readonly format: AudioFormat;
  /**
   * The website that the audio belongs to: the one whose credentials the engine uses, or, if
   * websites share no audio, the one that requested it. Its audio is never served to another
   * website.
   */
  readonly websiteId?: string;
  /**
   * `replacementsDigest` of the replacements of the website's lexicons in the text; absent if there
   * are none.
   */
  readonly replacements?: string;
  /** The other voices that speak in the text, and the version of each. Absent if there are none. */
  readonly voices?: readonly string[];
  /** Instructions in words, for a voice that follows them. `hashRecipe` normalises them to NFC. */
  readonly instructions?: string;
}

/**
 * The recipe's name: HMAC-SHA-256 of its canonical form under the installation's naming key, 64
 * hexadecimal digits. The name of a text cannot be computed without the key.
 */
export const hashRecipe = (namingKey: KeyObject, recipe: Recipe): string =>
  createHmac("sha256", namingKey)
    .update(JSON.stringify(canonical(recipe)))
    .digest("hex");

/**
 * The members have a fixed order, and JSON omits those that are absent, so that the name of a
 * recipe never changes.
 */
const canonical = (recipe: Recipe) => ({
  engine: recipe.engine,
  tools: recipe.tools,
  encoding: recipe.encoding,
  voice: recipe.voice,
  lang: recipe.lang,
  text: recipe.text.normalize("NFC"),
  textFormat: recipe.textFormat,
  prosody: prosodyParameters
    .filter((parameter) => recipe.applied.includes(parameter))
    .map((parameter) => [parameter, recipe.prosody[parameter]]),
  format: recipe.format,
  websiteId: recipe.websiteId,
  replacements: recipe.replacements,
  instructions: recipe.instructions?.normalize("NFC"),
  voices: recipe.voices,
});

/**
 * The folders of objects in the audio store, in order. Only `public/` may ever be served without
 * credentials. `audio/` holds what earlier versions stored under names that anybody can compute
 * (legacy-names.ts).
 */
export const audioFolders = ["audio", "private", "public"] as const;
export type AudioFolder = (typeof audioFolders)[number];

/** The name of the recipe's object in the audio store. */
export const audioName = (recipe: Pick<Recipe, "format" | "websiteId">, hash: string): string =>
  `${recipe.websiteId === undefined ? "public" : "private"}/${hash}.${formats[recipe.format].extension}`;

/** The path of a public object's permanent URL, below that of PUBLIC_URL. */
export const publicUrlPath = (name: string): string => name.replace(/^public/, "/audio");

/** The names of all objects that may exist under this hash. */
export const audioNamesOf = (hash: string): string[] =>
  audioFolders.flatMap((folder) =>
    [...audioExtensions, marksExtension].map((extension) => `${folder}/${hash}.${extension}`),
  );

/**
 * True for the name of an object: of audio (`audioName`), or of its marks, with the extension
 * `marks.json`.
 */
export const isAudioName = (name: string): boolean => audioNamePattern.test(name);

const audioNamePattern = new RegExp(
  `^(?:${audioFolders.join("|")})/[0-9a-f]{64}\\.(?:${extensionPattern}|${marksExtension.replace(".", "\\.")})$`,
);
