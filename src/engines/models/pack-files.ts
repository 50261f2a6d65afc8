import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readOnnxMetadata } from "./onnx-metadata.ts";

/** The kinds of models, as the library's configuration names them. */
export type ModelKind = "vits" | "kokoro" | "kitten" | "matcha";

export interface PackFiles {
  readonly kind: ModelKind;
  readonly metadata: Readonly<Record<string, string>>;
  /** The main model's file. */
  readonly model: string;
  /** The files and folders that the audio depends on. */
  readonly names: readonly string[];
  /** The library's configuration, with paths. */
  readonly config: object;
}

/**
 * The model's audio is reproducible, because this scale leaves no noise in 16-bit samples. The
 * library replaces 0 by its default, which is much noise.
 */
const noNoise = 1e-30;

/**
 * Finds the files of a pack by their usual names.
 * @throws {Error} if something is missing
 */
export const findPackFiles = async (folder: string): Promise<PackFiles> => {
  const present = (await readdir(folder)).sort();
  const { model, vocoder } = modelsAmong(present);
  const metadata = await readOnnxMetadata(join(folder, model));
  const kind = kindOf(metadata);
  const matching = (pattern: RegExp): string[] => present.filter((name) => pattern.test(name));
  const needed = (name: string): string[] => {
    if (!present.includes(name)) throw new Error(`The folder has no ${name}.`);
    return [name];
  };
  const common: NamedFiles = {
    tokens: needed("tokens.txt"),
    lexicon: lexiconsAmong(present),
    dataDir: metadata.has_espeak === "1" ? needed("espeak-ng-data") : matching(/^espeak-ng-data$/),
  };
  const own: Readonly<Record<ModelKind, () => NamedFiles>> = {
    vits: () => ({ model: [model] }),
    kokoro: () => ({ model: [model], voices: needed("voices.bin") }),
    kitten: () => ({ model: [model], voices: needed("voices.bin") }),
    matcha: () => ({ acousticModel: [model], vocoder: vocoder ? [vocoder] : needed("vocos.onnx") }),
  };
  const files = { ...own[kind](), ...common };
  const rules = matching(/\.fst$/);
  const pathsOf = (names: readonly string[]): string => names.map((name) => join(folder, name)).join(",");
  const paths = Object.entries(files)
    .filter(([, names]) => names.length > 0)
    .map(([option, names]) => [option, pathsOf(names)]);
  const noise = kind === "vits" ? { noiseScale: noNoise, noiseScaleW: noNoise } : {};
  const config = {
    model: { [kind]: { ...Object.fromEntries(paths), ...noise } },
    ...(rules.length > 0 && { ruleFsts: pathsOf(rules) }),
  };
  return { kind, metadata, model, names: [...Object.values(files).flat(), ...rules], config };
};

/**
 * The library takes a word from the first lexicon that has it. British lexicons are last, because
 * most of Kokoro's English voices are American.
 */
const lexiconsAmong = (present: readonly string[]): string[] => {
  const all = present.filter((name) => /^lexicon.*\.txt$/.test(name));
  const isBritish = (name: string): boolean => name.includes("gb");
  return [...all.filter((name) => !isBritish(name)), ...all.filter(isBritish)];
};

/** The names of files, by the library's options for them. */
type NamedFiles = Readonly<Record<string, readonly string[]>>;

const modelsAmong = (present: readonly string[]): { readonly model: string; readonly vocoder?: string } => {
  const all = present.filter((name) => name.endsWith(".onnx"));
  const vocoder = all.find((name) => /^(?:vocos|hifigan)/.test(name));
  const [model, ...others] = all.filter((name) => name !== vocoder);
  if (model === undefined) throw new Error("The folder has no .onnx file.");
  if (others.length > 0) throw new Error(`The folder has several models: ${model}, ${others.join(", ")}.`);
  return { model, ...(vocoder !== undefined && { vocoder }) };
};

/** The library ends its process if one of these is missing. */
const required: Readonly<Record<ModelKind, readonly string[]>> = {
  vits: ["sample_rate", "n_speakers", "language", "comment"],
  kokoro: ["sample_rate", "n_speakers", "style_dim"],
  kitten: ["sample_rate", "n_speakers"],
  matcha: ["sample_rate"],
};

const kindOf = (metadata: Readonly<Record<string, string>>): ModelKind => {
  const { model_type: type } = metadata;
  if (type === undefined) {
    throw new Error("The model has no metadata for sherpa-onnx: take its pack from the sherpa-onnx project.");
  }
  const kinds = Object.keys(required) as ModelKind[];
  // MMS's models have another name for the same kind.
  const kind = kinds.find((name) => type.startsWith(name)) ?? (type.includes("vits") ? "vits" : undefined);
  if (kind === undefined) {
    throw new Error(
      `The model's type is ${JSON.stringify(type.slice(0, 40))}: only ${kinds.join(", ")} can be loaded.`,
    );
  }
  const missing = required[kind].filter((name) => metadata[name] === undefined);
  if (missing.length > 0) throw new Error(`The model lacks metadata: ${missing.join(", ")}.`);
  return kind;
};
