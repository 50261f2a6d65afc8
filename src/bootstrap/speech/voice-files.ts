import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { lazy } from "../../async/lazy.ts";
import type { NaturalVoices } from "../../engines/natural-voices/natural-voices.ts";
import type { VoiceFile } from "../../http/routes/reproduce/operations.ts";

/** The WebAssembly of the voices' runtimes, by the names that the page knows. */
const runtimes = {
  "onnxruntime.wasm": "onnxruntime-web/ort-wasm-simd-threaded.wasm",
  "svoxpico.wasm": "@echogarden/svoxpico-wasm/svoxpico.wasm",
};

const require = createRequire(import.meta.url);

/**
 * Lists the files with which a page can compute audio: those of the installed voices, and of their
 * runtimes.
 */
export const voiceFiles = ({ installed }: NaturalVoices): (() => Promise<readonly VoiceFile[]>) => {
  const ofRuntimes = lazy(() =>
    Promise.all(Object.entries(runtimes).map(([name, module]) => runtimeFile(name, module))),
  );
  return async () => [...filesOf(installed).values(), ...(await ofRuntimes())];
};

const filesOf = (installed: NaturalVoices["installed"]): ReadonlyMap<string, VoiceFile> =>
  new Map(
    [...installed.values()].flatMap(({ package: { name, files, voices }, folder, voiceName }) =>
      (voices[voiceName.slice(name.length + 1)] ?? []).map((file): [string, VoiceFile] => {
        const [bytes = 0, digest = ""] = files[file] ?? [];
        return [`${name}/${file}`, { name: `${name}/${file}`, path: join(folder, file), bytes, digest }];
      }),
    ),
  );

const runtimeFile = async (name: string, module: string): Promise<VoiceFile> => {
  const path = require.resolve(module);
  const content = await readFile(path);
  const digest = createHash("sha256").update(content).digest("hex");
  return { name, path, bytes: content.length, digest };
};
