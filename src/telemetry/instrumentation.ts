import type { Telemetry } from "../telemetry.ts";
import { watchGauges } from "./gauges.ts";
import { createMeters } from "./meters.ts";
import { observedAudioStore } from "./parts/audio-store.ts";
import { observedAuthenticator, observedLimiter, observedUpgrade } from "./parts/callers.ts";
import { observedCommands } from "./parts/commands.ts";
import { observedEncoder } from "./parts/encoder.ts";
import { observedEngine } from "./parts/engine.ts";
import { observedEventStore } from "./parts/event-store.ts";
import { observedExchange } from "./parts/exchange.ts";
import { observedPipeline } from "./parts/pipeline.ts";
import { countProviders } from "./parts/providers.ts";
import { observedStreaming } from "./parts/streaming.ts";
import { watchProcess } from "./process.ts";
import { createRequestObserver, type RequestObserverOptions } from "./requests.ts";

/** What is put around the parts, on the providers of traces and metrics that are set by now. */
export const instrument = (options: RequestObserverOptions): Telemetry & { readonly end: () => void } => {
  const meters = createMeters();
  const { isDrawn } = options.sampler;
  const refusals = meters.tally("refusals");
  const end = watchProcess(meters);
  return {
    eventStore: observedEventStore(meters),
    commands: observedCommands(meters, refusals),
    audioStore: observedAudioStore(meters),
    engine: observedEngine(meters),
    encoder: observedEncoder(meters),
    exchange: observedExchange,
    pipeline: observedPipeline,
    streaming: observedStreaming(isDrawn),
    authenticator: observedAuthenticator(refusals),
    limiter: observedLimiter(refusals),
    upgrade: observedUpgrade(meters),
    provider: countProviders(meters),
    requests: createRequestObserver(options),
    watch: (watched) => watchGauges(meters, watched),
    end,
  };
};
