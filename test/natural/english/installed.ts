import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Accent } from "../../../src/natural/english/lexicon.ts";
import { loadEnglish } from "../../../src/natural/english/load.ts";
import { openOnnxSession } from "../../../src/natural/onnx/session.ts";
import type { FrontEnd } from "../../../src/natural/phonemes.ts";

const folder = new URL("../../../voices/hibari/", import.meta.url);

/** Skips a suite where `scripts/natural-voices` has not installed the data. */
export const needsEnglishData = (context: Mocha.Context): void => {
  if (!existsSync(new URL("tagger.json.gz", folder))) context.skip();
};

const bytesOf = async (url: URL | string): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await readFile(url));

export const openEnglish = async (accent: Accent): Promise<FrontEnd> => {
  const wasm = await bytesOf(
    fileURLToPath(import.meta.resolve("onnxruntime-web/ort-wasm-simd-threaded.wasm")),
  );
  return loadEnglish(accent, {
    read: (name) => bytesOf(new URL(name, folder)),
    openModel: (model) => openOnnxSession({ wasm, model }),
  });
};
