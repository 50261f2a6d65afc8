import type { ServiceApi } from "../api/service-api.ts";
import { downloadAudio } from "./chunk-transport.ts";
import { type OpenAudio, prefetching } from "./prefetch.ts";
import { synthesisQuery, type Transport } from "./transport.ts";
import { withDownloadFallback } from "./whole-unless-streamed.ts";

/** Plays each part while it is still being made, by an answer whose body comes piece by piece. */
export const streamTransport = (service: Pick<ServiceApi, "stream" | "synthesize">): Transport =>
  prefetching(withDownloadFallback(openStreamed(service), downloadAudio(service)));

const openStreamed =
  ({ stream }: Pick<ServiceApi, "stream">): OpenAudio =>
  async (part, wanted, signal) => ({
    ...(await stream(synthesisQuery(part, wanted), signal)),
    whole: false,
  });
