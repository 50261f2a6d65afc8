import { readlinkSync } from "node:fs";
import { basename } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { errorMessage } from "../../../domain/errors.ts";
import { lowerPriority } from "../lower-priority.ts";
import { openCodecs } from "./codecs.ts";
import type { CodecOptions } from "./encoding.ts";
import { createThreadAudios, type EncodeRequest } from "./thread-audios.ts";

/**
 * The program of a thread that encodes. It serves several audios, whose parts it encodes in the
 * order in which they arrive.
 */

export interface ThreadOptions extends CodecOptions {
  readonly lowPriority: boolean;
}

/** An audio is no longer needed. The request gets no response. */
export interface CloseRequest {
  readonly audio: number;
  readonly pcm?: undefined;
}
export type ThreadRequest = EncodeRequest | CloseRequest;

/** Sent once, before any response. */
export type ThreadLoaded = "loaded";

export type ThreadResponse =
  | { readonly audio: number; readonly bytes: Uint8Array<ArrayBuffer>; readonly failure?: undefined }
  | { readonly audio: number; readonly bytes?: undefined; readonly failure: string };

const { lowPriority, ...codecOptions } = workerData as ThreadOptions;
if (lowPriority) lowerPriority(threadId());

const { encode, close } = createThreadAudios(openCodecs(codecOptions));

parentPort?.postMessage("loaded" satisfies ThreadLoaded);

const respond = (response: ThreadResponse, transfer: ArrayBuffer[] = []): void =>
  parentPort?.postMessage(response, transfer);

/** Linux sets the priority of a single thread by its id (setpriority(2)). */
function threadId(): number | undefined {
  try {
    return Number(basename(readlinkSync("/proc/thread-self")));
  } catch {
    return undefined; // /proc is not mounted
  }
}

parentPort?.on("message", (request: ThreadRequest) => {
  const { audio } = request;
  if (request.pcm === undefined) return close(audio);
  try {
    const bytes = new Uint8Array(encode(request)); // a copy, whose memory is transferred
    respond({ audio, bytes }, [bytes.buffer]);
  } catch (error) {
    respond({ audio, failure: errorMessage(error) });
  }
});
