import type { Authenticator } from "../application/access/authentication.ts";
import type { RateLimiter } from "../application/access/rate-limiter.ts";
import type { CheckHealth } from "../application/health/health.ts";
import type { Streaming } from "../application/synthesis/delivery.ts";
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
 * Decorators that count, time and trace. Each takes a component and returns one with the same contract. The components do
 * not depend on telemetry.
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
  /** Called for each event of a provider account. */
  readonly provider: (engine: EngineCode, event: ProviderEvent) => void;
  /** Undefined when telemetry is disabled. */
  readonly requests: RequestObserver | undefined;
  /** Reads the sources at each collection. */
  observe(gauges: MetricSources): void;
}

/** What gauges read at collection. It costs nothing in between. */
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
  /** Servings of requests without audio that are not voided yet. */
  unsettledServings(): number;
  pipeline: Pipeline["stats"];
  subprocess(): { readonly running: number; readonly queued: number; readonly restarts: number };
  checkHealth: CheckHealth;
}

const identity = <T>(component: T): T => component;

/** Disabled telemetry: every component is returned unchanged. */
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
