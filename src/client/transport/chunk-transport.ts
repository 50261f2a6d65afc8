import type { Service } from "../api/service-api.ts";
import { type OpenSound, oneAhead } from "./prefetch.ts";
import { synthesisQuery, type Transport } from "./transport.ts";

/** Downloads each part whole before it is played. */
export const chunkTransport = (service: Pick<Service, "synthesize">): Transport =>
  oneAhead(openWhole(service));

export const openWhole =
  ({ synthesize }: Pick<Service, "synthesize">): OpenSound =>
  async (part, wanted, signal) => {
    const { bytes, ...sound } = await synthesize(synthesisQuery(part, wanted), signal);
    return { ...sound, whole: true, audio: inOnePiece(bytes), arrived: Promise.resolve() };
  };

async function* inOnePiece(bytes: Uint8Array<ArrayBuffer>) {
  if (bytes.length > 0) yield bytes;
}
