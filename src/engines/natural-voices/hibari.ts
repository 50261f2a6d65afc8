import { membersIn, type PackageArchive, type PublishedFile, type VoicePackage } from "./voice-package.ts";

export const hibariFiles = {
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

/** The English front end reads these. */
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

/** These files are only on the author's page. */
const furtherModels: readonly HibariFile[] = [
  "bf_emma.int8.onnx",
  "am_fenrir_v2.int8.onnx",
  "bm_fable.int8.onnx",
  "af_kore.int8.onnx",
];

const licences = "hibari_tts-0.2.1.dist-info/licenses";

/**
 * The archive of hibari's Python package, with the members that are installed: these files, and
 * others.
 */
export const hibariArchive = (
  files: readonly string[],
  others: PackageArchive["members"],
): PackageArchive => ({
  registry: "pypi",
  project: "hibari-tts",
  file: "hibari_tts-0.2.1-py3-none-any.whl",
  sha256: "49f2abbbe451c988e7448b5afa08c8a56410535ebb855c0e7d174275df5ca1f3",
  members: { ...membersIn("hibari/assets", files), ...others },
});

export const hibariNotice = `${licences}/NOTICE`;

export const hibari: VoicePackage = {
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
  archives: [
    hibariArchive(
      Object.keys(hibariFiles).filter((file) => !furtherModels.some((one) => one === file)),
      { LICENSE: `${licences}/LICENSE`, NOTICE: hibariNotice },
    ),
  ],
  page: {
    url: "https://huggingface.co/maureesewilliams/hibari/resolve/main/voices/",
    files: furtherModels,
  },
};
