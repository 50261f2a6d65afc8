import type { Service } from "../api/service-api.ts";
import { openWhole } from "./chunk-transport.ts";
import { type OpenSound, oneAhead } from "./prefetch.ts";
import { synthesisQuery, type Transport } from "./transport.ts";
import { wholeUnlessStreamed } from "./whole-unless-streamed.ts";

/** Plays each part while it is still being made, by an answer whose body comes piece by piece. */
export const streamTransport = (service: Pick<Service, "stream" | "synthesize">): Transport =>
  oneAhead(wholeUnlessStreamed(openStreamed(service), openWhole(service)));

const openStreamed =
  ({ stream }: Pick<Service, "stream">): OpenSound =>
  async (part, wanted, signal) => ({
    ...(await stream(synthesisQuery(part, wanted), signal)),
    whole: false,
  });
