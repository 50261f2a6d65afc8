import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openOnnxSession, Tensor } from "../../../../src/natural/onnx/session.ts";
import { makeRunsStoppable, stopRun } from "../../../../src/subprocess/host/models/onnx-runtime.ts";
import { readRequests } from "../../../../src/subprocess/host/requests.ts";
import {
  createWavWriter,
  reportDone,
  reportFailure,
  reportReady,
} from "../../../../src/subprocess/host/speaker-program.ts";
import { chainOf } from "../../../natural/onnx/model.ts";

/**
 * A speaker program. A request is a number of values. It writes a WAV and runs a model of as many
 * values, then another WAV. Its only event says that the run was stopped.
 */

makeRunsStoppable();
const wasm = readFileSync(fileURLToPath(import.meta.resolve("onnxruntime-web/ort-wasm-simd-threaded.wasm")));
const session = await openOnnxSession({ wasm, model: chainOf("Tanh", 10_000) });
reportReady("a chain");
for await (const { content, isCancelled } of readRequests<number>(stopRun)) {
  const wav = createWavWriter(() => 8000);
  wav.add(Buffer.alloc(2));
  wav.flush();
  try {
    const x = new Tensor("float32", new Float32Array(content), [content]);
    await session.run({ x });
    wav.add(Buffer.alloc(2));
    wav.flush();
    reportDone({ events: [], isLast: false });
  } catch (error) {
    if (!isCancelled()) reportFailure(error);
    else reportDone({ events: [{ kind: "sentence", position: 0, length: 0, sample: 0 }], isLast: false });
  }
}
