import { parentPort } from "node:worker_threads";
import { openDictionary } from "./dictionary.ts";
import type { ReadingsRequest, ReadingsResponse } from "./japanese-readings.ts";

const readingsOf = openDictionary();
parentPort?.on("message", ({ id, texts }: ReadingsRequest) => {
  parentPort?.postMessage({ id, readings: texts.map(readingsOf) } satisfies ReadingsResponse);
});
