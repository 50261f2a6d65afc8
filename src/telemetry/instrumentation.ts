import { observeGauges } from "./gauges.ts";
import { instrumentAudioStore } from "./instruments/audio-store.ts";
import { instrumentAuthenticator, instrumentLimiter, instrumentUpgrade } from "./instruments/callers.ts";
import { instrumentCommands } from "./instruments/commands.ts";
import { instrumentEncoder } from "./instruments/encoder.ts";
import { instrumentEngine } from "./instruments/engine.ts";
import { instrumentEventStore } from "./instruments/event-store.ts";
import { instrumentExchange } from "./instruments/exchange.ts";
import { instrumentPipeline } from "./instruments/pipeline.ts";
import { countProviders } from "./instruments/providers.ts";
import { instrumentStreaming } from "./instruments/streaming.ts";
import { createInstruments } from "./meters.ts";
import { observeProcess } from "./process.ts";
import { createRequestObserver, type RequestObserverOptions } from "./requests.ts";
import type { Telemetry } from "./telemetry.ts";

/** What is put around the parts, on the providers of traces and metrics that are set by now. */
export const instrument = (options: RequestObserverOptions): Telemetry & { readonly end: () => void } => {
  const meters = createInstruments();
  const { shouldSample } = options.sampler;
  const refusals = meters.counter("refusals");
  const end = observeProcess(meters);
  return {
    eventStore: instrumentEventStore(meters),
    commands: instrumentCommands(meters, refusals),
    audioStore: instrumentAudioStore(meters),
    engine: instrumentEngine(meters),
    encoder: instrumentEncoder(meters),
    exchange: instrumentExchange,
    pipeline: instrumentPipeline,
    streaming: instrumentStreaming(shouldSample),
    authenticator: instrumentAuthenticator(refusals),
    limiter: instrumentLimiter(refusals),
    upgrade: instrumentUpgrade(meters),
    provider: countProviders(meters),
    requests: createRequestObserver(options),
    observe: (watched) => observeGauges(meters, watched),
    end,
  };
};
