import type { ServiceApi } from "../api/service-api.ts";
import { type OpenAudio, prefetching } from "./prefetch.ts";
import { synthesisQuery, type Transport } from "./transport.ts";

/** Downloads each part whole before it is played. */
export const chunkTransport = (service: Pick<ServiceApi, "synthesize">): Transport =>
  prefetching(downloadAudio(service));

export const downloadAudio =
  ({ synthesize }: Pick<ServiceApi, "synthesize">): OpenAudio =>
  async (part, wanted, signal) => {
    const { bytes, ...sound } = await synthesize(synthesisQuery(part, wanted), signal);
    return { ...sound, whole: true, audio: inOnePiece(bytes), arrived: Promise.resolve() };
  };

async function* inOnePiece(bytes: Uint8Array<ArrayBuffer>) {
  if (bytes.length > 0) yield bytes;
}
