import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadEnglish } from "../../../../natural/english/load.ts";
import { openHibari } from "../../../../natural/hibari/model.ts";
import { createHibariVoice, type HibariVoice } from "../../../../natural/hibari/voice.ts";
import { sampleRate } from "../../../../natural/hibari/waveform.ts";
import { openOnnxSession } from "../../../../natural/onnx/session.ts";
import type { SpeechEvent } from "../../../espeak.ts";
import type { HibariRequest, HibariStart } from "../../../hibari.ts";
import { readRequests, type SpeakerRequest } from "../../requests.ts";
import { createWavWriter, reportDone, reportFailure, reportReady } from "../../speaker-program.ts";
import { makeRunsStoppable, optimizeFunctions, stopRun } from "../onnx-runtime.ts";

/**
 * The program of a process with one voice of hibari. It writes samples while a sentence is spoken.
 */

const wasmFile = fileURLToPath(import.meta.resolve("onnxruntime-web/ort-wasm-simd-threaded.wasm"));

const main = async (): Promise<void> => {
  const voice = await load();
  if (!voice) return;
  optimizeFunctions();
  reportReady("hibari");
  for await (const request of readRequests<HibariRequest>(stopRun)) {
    try {
      reportDone({ events: await speak(voice, request), isLast: false });
    } catch (error) {
      if (request.isCancelled()) reportDone({ events: [], isLast: false });
      else reportFailure(error);
    }
  }
};

const load = async (): Promise<HibariVoice | undefined> => {
  try {
    makeRunsStoppable();
    const start = JSON.parse(process.argv[2] ?? "{}") as HibariStart;
    const read = (name: string) => readFile(join(start.folder, name));
    const [wasm, model, vocabulary] = await Promise.all([
      readFile(wasmFile),
      readFile(start.model),
      read("vocab.json"),
    ]);
    return createHibariVoice({
      model: await openHibari({ wasm, model }),
      frontEnd: await loadEnglish(start.isBritish ? "gb" : "us", {
        read,
        openModel: (model) => openOnnxSession({ wasm, model }),
      }),
      vocabulary: JSON.parse(vocabulary.toString("utf8")) as Record<string, number>,
    });
  } catch (error) {
    reportFailure(error);
    return undefined;
  }
};

const speak = async (
  voice: HibariVoice,
  { content, isCancelled }: SpeakerRequest<HibariRequest>,
): Promise<SpeechEvent[]> => {
  const wav = createWavWriter(() => sampleRate);
  const events: SpeechEvent[] = [];
  wav.add(Buffer.alloc(0));
  for await (const { buffer } of voice.speak(content, (event) => events.push(event))) {
    if (isCancelled()) break;
    wav.add(Buffer.from(buffer));
  }
  wav.flush();
  return events;
};

await main();
