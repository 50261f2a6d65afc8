import type { RunnerStatus } from "../../projections/runner/runner.ts";
import type { SuspensionCounts } from "../../projections/suspension-counts.ts";
import type { Authenticator } from "../application/access/authentication.ts";
import type { CheckHealth } from "../application/health/health.ts";
import type { Streaming } from "../application/synthesis/delivery.ts";
import type { UserProjectionStatus } from "../application/user-projections/statuses.ts";
import type { DeliveryOutcome } from "../application/webhooks/dispatcher.ts";
import type { ResourceStats } from "../async/scheduler/scheduler.ts";
import type { Encoder } from "../audio/formats/encoder.ts";
import type { Pipeline } from "../audio/pipeline/pipeline.ts";
import type { RetentionStats } from "../audio/retention/retention.ts";
import type { AudioStore } from "../audio/store/audio-store.ts";
import type { JournalEvent } from "../domain/ledger/journal/journal.ts";
import type { EngineCode } from "../domain/synthesis/speech.ts";
import type { Engine } from "../engines/engine.ts";
import type { Exchange } from "../engines/provider-http/exchange.ts";
import type { ProviderEvent } from "../engines/resilience/with-event-reports.ts";
import type { CommandHandler } from "../eventstore/command-handler.ts";
import type { EventStore } from "../eventstore/event-store.ts";
import type { RequestObserver } from "../http/kernel/request-state.ts";
import type { Upgrade } from "../http/kernel/server.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { RateLimiter } from "../limits/rate-limiter.ts";

/**
 * Decorators that count, time and trace. Each takes a component and returns one with the same
 * contract. The components do not depend on telemetry.
 */
export interface Telemetry {
  eventStore(store: EventStore): EventStore;
  commands(handler: CommandHandler): CommandHandler;
  ledger(ledger: Ledger): Ledger;
  /** Called with the events of this process's journal when they are durable. */
  readonly servings: (events: readonly JournalEvent[]) => void;
  audioStore(store: AudioStore): AudioStore;
  engine(engine: Engine): Engine;
  encoder(encoder: Encoder): Encoder;
  exchange(exchange: Exchange): Exchange;
  pipeline(pipeline: Pipeline): Pipeline;
  streaming(streaming: Streaming): Streaming;
  authenticator(authenticator: Authenticator): Authenticator;
  limiter(limiter: RateLimiter): RateLimiter;
  upgrade(upgrade: Upgrade): Upgrade;
  /**
   * `connections`: the number of open connections of the Wyoming protocol, read at each collection.
   */
  wyoming(connections: () => number): void;
  /** Called with the code of each error that is sent over HTTP. */
  readonly refused: (code: string) => void;
  /** Called after each attempt to deliver a message to a webhook. */
  readonly webhook: (outcome: DeliveryOutcome) => void;
  /** Called for each event of a provider client. */
  readonly provider: (engine: EngineCode, event: ProviderEvent) => void;
  /** Called with the time that a job has waited for a slot of this resource. */
  readonly started: (resource: string, waitedMs: number) => void;
  /** Undefined when telemetry is disabled. */
  readonly requests: RequestObserver | undefined;
  /** Called when the service listens. */
  listening(): void;
  /** Reads the sources at each collection. */
  observe(sources: MetricSources): void;
}

/** The sources of observed metrics. They are read only at collections. */
export interface MetricSources {
  views(): Omit<RunnerStatus, "current">;
  suspensions(): SuspensionCounts;
  /** Events in the log that are skipped because they cannot be folded. */
  malformedEvents(): number;
  /** Returns undefined before the first measurement. */
  clockDifferenceMs(): number | undefined;
  pendingCommands(): number;
  /** Voids and ends of streams that are not durable yet. */
  backgroundEntries(): number;
  /** The free space of the folders of this machine. */
  diskFree(): Promise<readonly { readonly folder: string; readonly bytes: number }[]>;
  /** Returns undefined unless the log is a file. */
  logBytes(): Promise<number | undefined>;
  /** The age of the last seal, or the time since the start until it is known. */
  sealAgeSeconds(): number;
  /** Journals of ended processes whose recovery has failed. */
  unrecoveredJournals(): number;
  /** The projections that the EventStoreDB server runs for operators. */
  userProjections(): readonly UserProjectionStatus[];
  pipeline: Pipeline["stats"];
  retention(): RetentionStats;
  subprocess(): { readonly restarts: number };
  scheduler(): readonly ResourceStats[];
  /** The longest time for which a running job has held its slot, in milliseconds, by resource. */
  oldestRuns(): ReadonlyMap<string, number>;
  checkHealth: CheckHealth;
}

const identity = <T>(component: T): T => component;

/** Disabled telemetry: every component is returned unchanged. */
export const noTelemetry: Telemetry = {
  eventStore: identity,
  commands: identity,
  ledger: identity,
  servings: () => {},
  audioStore: identity,
  engine: identity,
  encoder: identity,
  exchange: identity,
  pipeline: identity,
  streaming: identity,
  authenticator: identity,
  limiter: identity,
  upgrade: identity,
  wyoming: () => {},
  refused: () => {},
  webhook: () => {},
  provider: () => {},
  started: () => {},
  requests: undefined,
  listening: () => {},
  observe: () => {},
};
