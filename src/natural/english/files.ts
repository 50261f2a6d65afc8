import type { Accent } from "./lexicon.ts";

/** The files of the front end for an accent. Its audio depends on them. */
export const englishFilesOf = (accent: Accent): readonly string[] => [
  `lexicon_${accent}_gold.json.gz`,
  `lexicon_${accent}_silver.json.gz`,
  "tagger.json.gz",
  "tokenizer_exceptions.json",
  accent === "gb" ? "oov_gb.onnx" : "oov.onnx",
  accent === "gb" ? "oov_gb.json" : "oov.json",
];
