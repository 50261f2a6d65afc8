import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { languageTag } from "../../domain/catalog/voice-schema.ts";
import type { ShortGender } from "../../domain/synthesis/speech.ts";
import { kokoroVoiceOf } from "../openai/voices.ts";
import { parseJson } from "../parse-json.ts";
import { findPackFiles, type ModelKind, type PackFiles } from "./pack-files.ts";

/** The files of a model, in a folder that an operator placed. */
export interface ModelPack {
  /** The folder's name. */
  readonly name: string;
  readonly kind: ModelKind;
  readonly config: object;
  /** The digest of all its files. */
  readonly digest: string;
  readonly speakers: readonly PackSpeaker[];
  /**
   * True if its bytes depend on nothing but the files, the library, the threads and the processor.
   */
  readonly isExact: boolean;
}

export interface PackSpeaker {
  readonly id: number;
  /** The name that people read. */
  readonly name: string;
  /** The language tag (BCP-47). */
  readonly lang: string;
  readonly gender: ShortGender;
}

/**
 * Reads a pack without loading its model.
 * @throws {Error} if something is wrong with it, as the message says
 */
export const readPack = async (path: string): Promise<ModelPack> => {
  const folder = resolve(path);
  const name = basename(folder);
  if (!packName.test(name)) throw new Error(`The folder's name must match ${packName.source}.`);
  const files = await findPackFiles(folder);
  const { kind, config, names } = files;
  const speakers = speakersOf(name, files, await readDescription(folder), await readPiper(folder, files));
  const digest = await digestOf(folder, names);
  // Matcha's and Kokoro's graphs draw random numbers of their own.
  return { name, kind, config, digest, speakers, isExact: kind === "vits" };
};

/** It is part of voices' names, of metrics and of logs. */
const packName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;
const maxSpeakers = 1_000;

const ownTraits = {
  name: z.string().min(1).max(60).optional(),
  lang: languageTag.optional(),
  gender: z.enum(["f", "m"]).optional(),
};
/** Members that an operator may add to a pack. If it has `speakers`, only these are voices. */
const description = z.strictObject({
  ...ownTraits,
  speakers: z
    .array(z.strictObject({ id: z.int().min(0), ...ownTraits }))
    .min(1)
    .max(maxSpeakers)
    .optional(),
});
type Description = z.output<typeof description>;
const descriptionFile = "voxledger.json";

const readDescription = async (folder: string): Promise<Description> => {
  const text = await readFile(join(folder, descriptionFile), "utf8").catch(() => undefined);
  if (text === undefined) return {};
  const { success, data, error } = description.safeParse(parseJson(text));
  if (success) return data;
  const [issue] = error.issues;
  throw new Error(
    `${descriptionFile}: ${[issue?.path.join("."), issue?.message].filter(Boolean).join(": ")}`,
  );
};

/** The description that Piper publishes beside each of its models. */
const piper = z.object({
  dataset: z.string().optional(),
  language: z.object({ code: z.string() }).optional(),
  speaker_id_map: z.record(z.string(), z.int().min(0)).optional(),
});

const readPiper = async (folder: string, { model }: PackFiles): Promise<z.output<typeof piper>> => {
  const text = await readFile(join(folder, `${model}.json`), "utf8").catch(() => "{}");
  return piper.safeParse(parseJson(text)).data ?? {};
};

const speakersOf = (
  pack: string,
  { metadata }: PackFiles,
  own: Description,
  { dataset, language, speaker_id_map: ids = {} }: z.output<typeof piper>,
): PackSpeaker[] => {
  const count = Math.max(1, Number(metadata.n_speakers ?? 1) || 1);
  const listed = own.speakers ?? Array.from({ length: Math.min(count, maxSpeakers) }, (_, id) => ({ id }));
  const names = metadata.speaker_names?.split(",") ?? [];
  const byId = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
  const packLang = own.lang ?? languageOf(language?.code ?? pack, metadata);
  const title = own.name ?? titleOf(dataset ?? titleIn(pack));
  return listed.flatMap((speaker: NonNullable<Description["speakers"]>[number]): PackSpeaker[] => {
    const { id } = speaker;
    if (id >= count) throw new Error(`The model has ${count} speakers: there is no speaker ${id}.`);
    const named = names[id]?.trim() ?? byId.get(id);
    const kokoro = named === undefined ? undefined : kokoroVoiceOf(named);
    if (kokoro && !own.speakers && !kokoroFrontends.test(kokoro.lang)) return [];
    const lang = speaker.lang ?? kokoro?.lang ?? packLang;
    if (lang === undefined)
      throw new Error(`Its language is unknown: name it as lang in ${descriptionFile}.`);
    const label = speaker.name ?? (kokoro && titleOf(kokoro.name));
    const several = count === 1 ? title : `${title} ${named ?? id}`;
    const gender =
      speaker.gender ?? own.gender ?? kokoro?.gender ?? genderOf(named ?? "", dataset ?? titleIn(pack));
    return [{ id, name: `${label ?? several} (${lang})`, lang, gender }];
  });
};

/** The library reads the texts of Kokoro's other languages as English. */
const kokoroFrontends = /^(?:en|zh)-/;

/** Returns `lessac` for `vits-piper-en_US-lessac-medium`. */
const titleIn = (pack: string): string =>
  /(?:^|-)[a-z]{2,3}_[A-Z]{2}-([A-Za-z0-9_]+)/.exec(pack)?.[1] ?? pack;

const titleOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");

/**
 * A code such as `en_US`, alone or in a folder's name, or the voice of espeak-ng that the model
 * names.
 */
const languageOf = (text: string, { voice = "" }: PackFiles["metadata"]): string | undefined => {
  const [, language, region] = /(?:^|[-_])([a-z]{2,3})_([A-Z]{2})(?:[-_]|$)/.exec(text) ?? [];
  if (language !== undefined) return canonical(`${language}-${region}`);
  return canonical(/^[a-z]{2,3}(?:-[a-z]{2})?$/.exec(voice)?.[0] ?? text);
};

const canonical = (code: string): string | undefined => {
  try {
    return /^[a-z]{2,3}(?:-[A-Za-z]{2})?$/.test(code) ? Intl.getCanonicalLocales(code)[0] : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Male voices among Piper's, by the name of their dataset; the others count as female, unless a
 * pack says otherwise.
 */
const male: ReadonlySet<string> = new Set(
  [
    "alan,bryce,cadu,carlfm,danny,darkman,davefx,denis,dmitri,edresson,faber,gilles,harri,hfc_male,jeff,joe,john,karlsson",
    "kusal,mc_speech,norman,northern_english_male,pau,pim,rdh,reza_ibrahim,riccardo,ronnie,ruslan,ryan,sam,thorsten,tom,tugão",
  ].flatMap((line) => line.split(",")),
);

/** KittenTTS's speakers end with their gender: `expr-voice-2-m`. */
const ending = /-([fm])$/;

const genderOf = (speaker: string, dataset: string): ShortGender => {
  const [, gender] = ending.exec(speaker) ?? [];
  return (gender as ShortGender | undefined) ?? (male.has(dataset.toLowerCase()) ? "m" : "f");
};

/**
 * Computes a digest of the files and of all files in the folders: by their names and bytes,
 * wherever they lie.
 */
const digestOf = async (folder: string, names: readonly string[]): Promise<string> => {
  const hash = createHash("sha256");
  for (const name of (await Promise.all(names.map((one) => filesOf(folder, one)))).flat().sort()) {
    const content = createHash("sha256");
    await pipeline(createReadStream(join(folder, name)), content);
    hash.update(`${name}\0${content.digest("hex")}\n`);
  }
  return hash.digest("hex").slice(0, 32);
};

/** espeak-ng's data has fewer files. */
const maxFiles = 5_000;

const filesOf = async (folder: string, name: string): Promise<string[]> => {
  const found = await stat(join(folder, name));
  if (found.isFile()) return [name];
  const all = await readdir(join(folder, name), { recursive: true, withFileTypes: true });
  const files = all.filter((entry) => !entry.isDirectory());
  if (files.length > maxFiles) throw new Error(`The folder ${name} has more than ${maxFiles} files.`);
  return files.map(({ parentPath, name: file }) => join(parentPath, file).slice(folder.length + 1));
};
