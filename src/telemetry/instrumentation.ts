import { watchGauges } from "./gauges.ts";
import { observedAudioStore } from "./instruments/audio-store.ts";
import { observedAuthenticator, observedLimiter, observedUpgrade } from "./instruments/callers.ts";
import { observedCommands } from "./instruments/commands.ts";
import { observedEncoder } from "./instruments/encoder.ts";
import { observedEngine } from "./instruments/engine.ts";
import { observedEventStore } from "./instruments/event-store.ts";
import { observedExchange } from "./instruments/exchange.ts";
import { observedPipeline } from "./instruments/pipeline.ts";
import { countProviders } from "./instruments/providers.ts";
import { observedStreaming } from "./instruments/streaming.ts";
import { createMeters } from "./meters.ts";
import { watchProcess } from "./process.ts";
import { createRequestObserver, type RequestObserverOptions } from "./requests.ts";
import type { Telemetry } from "./telemetry.ts";

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
