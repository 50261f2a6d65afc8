import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadEnglish } from "../../../../natural/english/load.ts";
import { openKokoro } from "../../../../natural/kokoro/model.ts";
import { createKokoro, kokoroSampleRate } from "../../../../natural/kokoro/voice.ts";
import { openOnnxSession } from "../../../../natural/onnx/session.ts";
import type { FrontEnd } from "../../../../natural/phonemes.ts";
import type { SpeechEvent } from "../../../espeak.ts";
import type { KokoroReader, KokoroRequest, KokoroStart } from "../../../kokoro.ts";
import { type EspeakLibrary, openEspeakLibrary } from "../../espeak/library.ts";
import { readRequests, type SpeakerRequest } from "../../requests.ts";
import { createWavWriter, reportDone, reportFailure, reportReady } from "../../speaker-program.ts";
import { makeRunsStoppable, optimizeFunctions, stopRun } from "../onnx-runtime.ts";
import { espeakFrontEnd } from "./espeak-front-end.ts";

/**
 * The program of a process with Kokoro's model, for all its voices. A front end is loaded when a
 * voice first needs it.
 */

const wasmFile = fileURLToPath(import.meta.resolve("onnxruntime-web/ort-wasm-simd-threaded.wasm"));

type Speak = (request: SpeakerRequest<KokoroRequest>) => Promise<SpeechEvent[]>;

const main = async (): Promise<void> => {
  const speak = await load();
  if (!speak) return;
  optimizeFunctions();
  reportReady("kokoro");
  for await (const request of readRequests<KokoroRequest>(stopRun)) {
    try {
      reportDone({ events: await speak(request), isLast: false });
    } catch (error) {
      if (request.isCancelled()) reportDone({ events: [], isLast: false });
      else reportFailure(error);
    }
  }
};

const load = async (): Promise<Speak | undefined> => {
  try {
    makeRunsStoppable();
    const { folder } = JSON.parse(process.argv[2] ?? "{}") as KokoroStart;
    const read = (name: string) => readFile(join(folder, name));
    const [wasm, model, vocabulary] = await Promise.all([
      readFile(wasmFile),
      read("kokoro.onnx"),
      read("vocab.json"),
    ]);
    const ids = JSON.parse(vocabulary.toString("utf8")) as Record<string, number>;
    const speak = createKokoro({ model: await openKokoro({ wasm, model }), vocabulary: ids });
    const english = new Map<string, Promise<FrontEnd>>();
    let library: EspeakLibrary | undefined;
    const frontEndOf = async (reader: KokoroReader): Promise<FrontEnd> => {
      if ("espeak" in reader) {
        library ??= openEspeakLibrary();
        return espeakFrontEnd(library, reader.espeak, ids);
      }
      const { accent } = reader;
      const openModel = (model: Uint8Array<ArrayBuffer>) => openOnnxSession({ wasm, model });
      const loaded = english.get(accent) ?? loadEnglish(accent, { read, openModel });
      english.set(accent, loaded);
      return loaded;
    };
    return async ({ content: { voice, reader, ...spoken }, isCancelled }) => {
      const { buffer, byteOffset, length } = await read(voice);
      const styles = new Float32Array(buffer, byteOffset, length / Float32Array.BYTES_PER_ELEMENT);
      const request = { ...spoken, styles, frontEnd: await frontEndOf(reader) };
      const wav = createWavWriter(() => kokoroSampleRate);
      const events: SpeechEvent[] = [];
      wav.add(Buffer.alloc(0));
      for await (const { buffer } of speak(request, (event) => events.push(event))) {
        if (isCancelled()) break;
        wav.add(Buffer.from(buffer));
        wav.flush();
      }
      wav.flush();
      return events;
    };
  } catch (error) {
    reportFailure(error);
    return undefined;
  }
};

await main();
