import { createHash } from "node:crypto";
import { type AudioFormat, extensionPattern, formats } from "./formats.ts";
import { type EngineCode, type Knob, knobs, type Prosody } from "./speech.ts";

/**
 * What this service itself makes of a recipe: how knobs become a tool's arguments, texts its input, samples a file.
 * Raise it with every change of that, or the store goes on giving the sounds of before; a test holds it to that.
 */
export const pipelineVersion = 2;

/** Everything that the bytes of a sound depend on, and nothing else. */
export interface Recipe {
  /** Versions of the tools that make the bytes. */
  readonly tools: string;
  readonly engine: EngineCode;
  /** The engine's own name for the voice. */
  readonly voice: string;
  readonly lang: string;
  /** As sent; normalised to NFC here. */
  readonly text: string;
  readonly prosody: Prosody;
  /** The knobs that the engine applies: the others' values change no byte and do not count. */
  readonly applied: readonly Knob[];
  readonly format: AudioFormat;
  /** For engines on a website's own credentials: whose. Its audio is never another's. */
  readonly websiteId?: string;
}

/** The recipe's content address: SHA-256 of its canonical form, 64 hexadecimal digits. */
export const hashRecipe = (recipe: Recipe): string =>
  createHash("sha256")
    .update(JSON.stringify(canonical(recipe)))
    .digest("hex");

/** The name of the recipe's object in the audio store; only `audio/` may ever be served without credentials. */
export const objectName = (recipe: Pick<Recipe, "format" | "websiteId">, hash: string): string =>
  `${recipe.websiteId === undefined ? "audio" : "private"}/${hash}.${formats[recipe.format].extension}`;

/**
 * An object's name, made by `objectName` alone: `audio/{hash}.{ext}` is public, `private/{hash}.{ext}` belongs to one
 * website.
 */
export const isObjectName = (name: string): boolean => objectNamePattern.test(name);

const objectNamePattern = new RegExp(`^(?:audio|private)/[0-9a-f]{64}\\.${extensionPattern}$`);

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
];
