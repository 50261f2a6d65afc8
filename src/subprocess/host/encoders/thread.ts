import { readlinkSync } from "node:fs";
import { basename } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { errorMessage } from "../../../domain/errors.ts";
import type { EncodedFormat } from "../../../domain/synthesis/formats.ts";
import { lowerPriority } from "../lower-priority.ts";
import { openCodecs } from "./codecs.ts";
import type { CodecOptions, Encoding } from "./encoding.ts";

/** A thread that encodes. It serves several audios, in the order of their parts. */

export interface ThreadOptions extends CodecOptions {
  readonly lowPriority: boolean;
}

/** The next part of an audio. There is one response to it. */
export interface EncodeRequest {
  readonly audio: number;
  readonly format: EncodedFormat;
  readonly sampleRate: number;
  readonly pcm: Uint8Array<ArrayBuffer>;
  readonly isLast: boolean;
}
/** An audio is no longer needed. There is no response. */
export interface CloseRequest {
  readonly audio: number;
  readonly pcm?: undefined;
}
export type ThreadRequest = EncodeRequest | CloseRequest;

export type ThreadResponse =
  | { readonly audio: number; readonly bytes: Uint8Array<ArrayBuffer>; readonly failure?: undefined }
  | { readonly audio: number; readonly bytes?: undefined; readonly failure: string };

const { lowPriority, ...codecOptions } = workerData as ThreadOptions;
// Linux sets the priority of a single thread by its id (setpriority(2)).
if (lowPriority) lowerPriority(Number(basename(readlinkSync("/proc/thread-self"))));

const open = openCodecs(codecOptions);
const encodings = new Map<number, Encoding>();

const close = (audio: number): void => {
  encodings.get(audio)?.close();
  encodings.delete(audio);
};

const encode = ({ audio, format, sampleRate, pcm, isLast }: EncodeRequest): Buffer => {
  const encoding = encodings.get(audio) ?? open(format, sampleRate);
  encodings.set(audio, encoding);
  const bytes = encoding.encode(Buffer.from(pcm.buffer));
  return isLast ? Buffer.concat([bytes, encoding.finish()]) : bytes;
};

const respond = (response: ThreadResponse, transfer: ArrayBuffer[] = []): void =>
  parentPort?.postMessage(response, transfer);

parentPort?.on("message", (request: ThreadRequest) => {
  const { audio } = request;
  if (request.pcm === undefined) return close(audio);
  try {
    const bytes = new Uint8Array(encode(request)); // of its own memory, which is handed over
    if (request.isLast) close(audio);
    respond({ audio, bytes }, [bytes.buffer]);
  } catch (error) {
    close(audio);
    respond({ audio, failure: errorMessage(error) });
  }
});
