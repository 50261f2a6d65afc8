import type { Authenticator } from "../application/access/authentication.ts";
import type { RateLimiter } from "../application/access/rate-limiter.ts";
import type { CheckHealth } from "../application/health/health.ts";
import type { Streaming } from "../application/synthesis/streaming.ts";
import type { Encoder } from "../audio/formats/encoder.ts";
import type { Pipeline } from "../audio/pipeline/pipeline.ts";
import type { AudioStore } from "../audio/store/audio-store.ts";
import type { EngineCode } from "../domain/synthesis/speech.ts";
import type { Engine } from "../engines/engine.ts";
import type { Exchange } from "../engines/provider-http/exchange.ts";
import type { ProviderEvent } from "../engines/resilience/with-metrics.ts";
import type { CommandHandler } from "../eventstore/command-handler.ts";
import type { EventStore } from "../eventstore/event-store.ts";
import type { RequestObserver } from "../http/kernel/observer.ts";
import type { Upgrade } from "../http/kernel/server.ts";

/**
 * What is put around the parts to tell how they do. Each verb gives the same part back, with the same contract, and what
 * passes through it counted, timed and traced. The parts know nothing of it.
 */
export interface Telemetry {
  eventStore(store: EventStore): EventStore;
  commands(handler: CommandHandler): CommandHandler;
  audioStore(store: AudioStore): AudioStore;
  engine(engine: Engine): Engine;
  encoder(encoder: Encoder): Encoder;
  exchange(exchange: Exchange): Exchange;
  pipeline(pipeline: Pipeline): Pipeline;
  streaming(streaming: Streaming): Streaming;
  authenticator(authenticator: Authenticator): Authenticator;
  limiter(limiter: RateLimiter): RateLimiter;
  upgrade(upgrade: Upgrade): Upgrade;
  /** What the care of a provider's accounts tells. */
  readonly provider: (engine: EngineCode, told: ProviderEvent) => void;
  /** Undefined when nobody wants to know of requests. */
  readonly requests: RequestObserver | undefined;
  /** Tells of these whenever it is asked for its numbers. */
  observe(gauges: MetricSources): void;
}

/** What is looked at, and costs nothing in between. */
export interface MetricSources {
  views(): {
    readonly position: number;
    readonly live: boolean;
    readonly lagMs: number;
    readonly failed: readonly string[];
  };
  /** Events in the log that are skipped because they cannot be folded. */
  malformedEvents(): number;
  pendingCommands(): number;
  /** Requests without audio that are not settled on the ledger. */
  unsettledServings(): number;
  pipeline: Pipeline["stats"];
  subprocess(): { readonly running: number; readonly queued: number; readonly restarts: number };
  checkHealth: CheckHealth;
}

const identity = <T>(part: T): T => part;

/** Tells nobody anything: every part is left as it is. */
export const noTelemetry: Telemetry = {
  eventStore: identity,
  commands: identity,
  audioStore: identity,
  engine: identity,
  encoder: identity,
  exchange: identity,
  pipeline: identity,
  streaming: identity,
  authenticator: identity,
  limiter: identity,
  upgrade: identity,
  provider: () => {},
  requests: undefined,
  observe: () => {},
};
