import { createHash } from "node:crypto";

/** A published file: its length in bytes and its SHA-256. */
export type PublishedFile = readonly [bytes: number, sha256: string];

/** Natural voices that are installed together, in a folder of their own. */
export interface VoicePackage {
  /** The folder, and the prefix of SystemVoice.voiceName. */
  readonly name: string;
  readonly title: string;
  readonly licence: string;
  readonly files: Readonly<Record<string, PublishedFile>>;
  /** The files that the audio of a voice depends on. */
  readonly voices: Readonly<Record<string, readonly string[]>>;
  /** The archive on the Python Package Index that has the files. */
  readonly archive: PackageArchive;
  /** Further files, which only a page of their author has. */
  readonly page?: { readonly url: string; readonly files: readonly string[] };
}

interface PackageArchive {
  readonly project: string;
  readonly file: string;
  readonly sha256: string;
  /** Of the files in the archive. */
  readonly folder: string;
  /** Names in the package's folder, and paths in the archive. */
  readonly licences: Readonly<Record<string, string>>;
}

const hibariFiles = {
  "hibari.onnx": [7_936_868, "5f70741d4e900f4e85d0037498736cc1b3e1b9a63a13546a5da1e63abf4fccd8"],
  "bf_emma.int8.onnx": [7_936_868, "f709f0488ee63b583a22189a955aaf4257b9806dd330be3490661e53af0a89c1"],
  "am_fenrir_v2.int8.onnx": [8_031_158, "f59fbd87908c91f827bc21b1b89443757b9a8580db9eee20aa948deb731321f4"],
  "bm_fable.int8.onnx": [7_936_868, "c28529302f2d27cd12f62625c24425888c4e3c2675583100ec530259136b8bc6"],
  "af_kore.int8.onnx": [7_936_868, "346885752673e45d42f9864c9e2432094bc4b6385df060d4b83273da764d2fa9"],
  "lexicon_gb_gold.json.gz": [696_547, "66e675f23eb007d6707d23fe6603ba5e19f3513aefe42e3c8cd6c078a85f2ce0"],
  "lexicon_gb_silver.json.gz": [799_678, "637f887dd557d193af8c106f5c26624850db3e7bf0ec751ba917aac6d75e948d"],
  "lexicon_us_gold.json.gz": [719_352, "63ae94f8ef0e906d5b24fe9b59ffcbd1529aca5686a774610e43973cbaa86ad2"],
  "lexicon_us_silver.json.gz": [682_530, "c4c2546ebf1eb07010331e7ef785a431aa17ba8e7bfb6b4af8d654ee96a71fd3"],
  "normalize.json": [6_769, "d478ff05404bc43ac3e0468e306674e51085f1b1afc94cdef7c7ea4fb0d56bd8"],
  "oov.json": [2_273, "b462e6e5dbdf0e7346c732385d0dd844f612f1770871441c56932bff4ca75d8c"],
  "oov.onnx": [2_975_020, "d3cfd8122c5f172a98c8de38268bf1213ee09f2c2ae4df6e055fc6532590fe76"],
  "oov_gb.json": [2_096, "e29077fc3548f08f2fab82a87e03309f614658d91d0ba464e653265e9a4d0cad"],
  "oov_gb.onnx": [942_734, "0997e3219543247de5646078d770f8ca77011d8fd0abb29fe48d12c60f53e9e1"],
  "tagger.json.gz": [1_240_667, "d2da7502284bbbe45d49e0b7ce3ce67bdab82254150f4317f1b8559b4d38d0eb"],
  "tokenizer_exceptions.json": [32_450, "ddf3a3da07bdcf5144270ea4530191d8580fb4fd6f5ae93296e87916e795659a"],
  "vocab.json": [1_144, "70abefbe8a1c8865e43e0a43bbdc25b91a33e4aa053479d443ccf23e20a59e5d"],
} as const satisfies Record<string, PublishedFile>;

type HibariFile = keyof typeof hibariFiles;

/** Of the English front end. */
const english: readonly HibariFile[] = [
  "normalize.json",
  "tagger.json.gz",
  "tokenizer_exceptions.json",
  "vocab.json",
];
const american: readonly HibariFile[] = [
  ...english,
  "lexicon_us_gold.json.gz",
  "lexicon_us_silver.json.gz",
  "oov.json",
  "oov.onnx",
];
const british: readonly HibariFile[] = [
  ...english,
  "lexicon_gb_gold.json.gz",
  "lexicon_gb_silver.json.gz",
  "oov_gb.json",
  "oov_gb.onnx",
];

const hibari: VoicePackage = {
  name: "hibari",
  title: "hibari 0.2.1",
  licence: "Apache-2.0",
  files: hibariFiles,
  voices: {
    heart: ["hibari.onnx", ...american],
    emma: ["bf_emma.int8.onnx", ...british],
    fable: ["bm_fable.int8.onnx", ...british],
    fenrir: ["am_fenrir_v2.int8.onnx", ...american],
    kore: ["af_kore.int8.onnx", ...american],
  },
  archive: {
    project: "hibari-tts",
    file: "hibari_tts-0.2.1-py3-none-any.whl",
    sha256: "49f2abbbe451c988e7448b5afa08c8a56410535ebb855c0e7d174275df5ca1f3",
    folder: "hibari/assets",
    licences: {
      LICENSE: "hibari_tts-0.2.1.dist-info/licenses/LICENSE",
      NOTICE: "hibari_tts-0.2.1.dist-info/licenses/NOTICE",
    },
  },
  page: {
    url: "https://huggingface.co/maureesewilliams/hibari/resolve/main/voices/",
    files: ["bf_emma.int8.onnx", "am_fenrir_v2.int8.onnx", "bm_fable.int8.onnx", "af_kore.int8.onnx"],
  },
};

const pico: VoicePackage = {
  name: "pico",
  title: "SVOX Pico (ttspico 0.3.2)",
  licence: "Apache-2.0",
  files: {
    "de-DE_gl0_sg.bin": [634_996, "39147b816d08bbbe64b23797804cf691a761ab73a7689ca9e2b6f87ace722654"],
    "de-DE_ta.bin": [440_732, "df292826754713d5efb6c95d60582c17753e95856b4c735c3150db722b2c218a"],
    "en-GB_kh0_sg.bin": [584_436, "8f9f5d13a920a9f3371517178d42ce89b835f1e587760c2db280beb593c388fa"],
    "en-GB_ta.bin": [412_248, "57998f6423236dea25cd572a73b13f371e64155840e31b571eba7fca0b521b7e"],
    "en-US_lh0_sg.bin": [777_396, "d6946526696d9eb085f7b23b1fbdf7a9986caca658b645e9eb73c6514fd4789d"],
    "en-US_ta.bin": [650_668, "3a2a4d23de2a44dbbff50f69dcb9486be53b6d0a871d77cdc35f45c3e25e82aa"],
    "es-ES_ta.bin": [256_744, "b18c60baf249466bf8785d333d8cb4cf1f6b62e5545986f621c66568f1851961"],
    "es-ES_zl0_sg.bin": [605_280, "82e724d3c788767ec95f0d22b0ab738e677ad397f26ec0bbbf2c07aafdf29000"],
    "fr-FR_nk0_sg.bin": [833_236, "85e2d63cf9f5522ea2a483d25ddd1cb0c6bfeecc39c92884aecfe7d3f179837a"],
    "fr-FR_ta.bin": [381_936, "d9da5eb3cd7aac7071ab8ff7fee8d716f58572ee5393c1f0a8db946d6bf32f97"],
    "it-IT_cm0_sg.bin": [628_268, "c48be4dc1f5a3c77a3dc4c8a457949b69bc433d674fac4fac91d49c01770e7e4"],
    "it-IT_ta.bin": [252_044, "9b243c3470660293691d0d4e000901d7c5d0fa71976b33986e92e93a860ade33"],
  },
  voices: {
    "en-GB": ["en-GB_ta.bin", "en-GB_kh0_sg.bin"],
    "de-DE": ["de-DE_ta.bin", "de-DE_gl0_sg.bin"],
    "fr-FR": ["fr-FR_ta.bin", "fr-FR_nk0_sg.bin"],
    "es-ES": ["es-ES_ta.bin", "es-ES_zl0_sg.bin"],
    "it-IT": ["it-IT_ta.bin", "it-IT_cm0_sg.bin"],
    "en-US": ["en-US_ta.bin", "en-US_lh0_sg.bin"],
  },
  archive: {
    project: "ttspico",
    file: "ttspico-0.3.2.tar.gz",
    sha256: "743a280a8ced8523583665cb45797d730aceb2e145a04a212f82ebb0b5fac6c8",
    folder: "ttspico-0.3.2/picopi/pico/lang",
    // The text of the licence is part of the notice.
    licences: { NOTICE: "ttspico-0.3.2/picopi/pico/lib/NOTICE" },
  },
};

export const voicePackages: readonly VoicePackage[] = [hibari, pico];

/** Of the files that the audio of a voice depends on. */
export const digestOfFiles = (files: VoicePackage["files"], needed: readonly string[]): string => {
  const hash = createHash("sha256");
  for (const file of [...needed].sort()) hash.update(`${file}\0${files[file]?.[1]}\n`);
  return hash.digest("hex").slice(0, 32);
};
