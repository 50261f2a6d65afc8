import { createCircuitBreaker } from "../../async/circuit-breaker.ts";
import type { Clock } from "../../async/clock.ts";
import type { EngineCode } from "../../domain/synthesis/speech.ts";
import type { Provider } from "../provider.ts";
import type { Exchange } from "../provider-http/exchange.ts";
import { createLimiter, type Limiter, type LimiterOptions } from "./limiter.ts";
import { withCircuitBreaker } from "./with-circuit-breaker.ts";
import { withLimiter } from "./with-limiter.ts";
import { type ProviderEvent, type ReportProviderEvent, withMetrics } from "./with-metrics.ts";
import { withRetry } from "./with-retry.ts";

/** What a provider puts around each exchange by which it asks. */
export type DecorateExchange = (exchange: Exchange) => Exchange;

export interface ResilienceOptions {
  readonly limits: Pick<LimiterOptions, "concurrency" | "perMinute">;
  readonly onEvent?: (engine: EngineCode, told: ProviderEvent) => void;
  readonly clock?: Clock;
  /** 0 to 1. */
  readonly random?: () => number;
}

/**
 * A provider each of whose accounts asks with care: circuit(driver(retries(turns(exchange)))).
 *
 * Turns and retries are around the exchange, not around the synthesis, since a long text is many exchanges: each is
 * counted, and one that is refused in the middle of a sound can still be asked again. Retries are outside of the turn: a
 * pause keeps nobody else waiting, and each attempt counts for the minute. The circuit is around the whole: it judges
 * by what came of the driver's asking (a page of HTML with 200 is a failure), after all retries, and while it is open
 * nobody stands in the queue. All of it belongs to one set of credentials and goes when the account goes.
 */
export const withResilience = <Credentials, Code extends EngineCode>(
  providerWith: (careful: DecorateExchange) => Provider<Credentials, Code>,
  { limits, onEvent: tellOf, clock, random }: ResilienceOptions,
): Provider<Credentials, Code> => {
  const { code, name } = providerWith((exchange) => exchange);
  const tell: ReportProviderEvent = (told) => tellOf?.(code, told);
  const timed = clock ? { clock } : {};
  return {
    code,
    name,
    open: (credentials) => {
      const turns = waited(createLimiter(withQueue(limits), clock), tell);
      const circuit = createCircuitBreaker({
        ...timed,
        onChange: (state) => tell({ what: "circuit", state }),
      });
      const retries = { ...timed, ...(random && { random }), onRetry: () => tell({ what: "retried" }) };
      const resting = { ...timed, maxIdle: limits.concurrency };
      const careful: DecorateExchange = (exchange) =>
        withRetry(withLimiter(withMetrics(exchange, tell), turns, resting), retries);
      const account = providerWith(careful).open(credentials);
      return { ...account, engine: withCircuitBreaker(account.engine, circuit) };
    },
  };
};

/** More than that, and longer, nobody should wait before the upstream is even asked. */
const withQueue = (limits: ResilienceOptions["limits"]): LimiterOptions => ({
  ...limits,
  queueLimit: 25 * limits.concurrency,
  queueMs: 15_000,
});

const waited = (turns: Limiter, tell: ReportProviderEvent): Limiter => ({
  ...turns,
  acquire: (signal, asking) => {
    tell({ what: "waits" });
    return turns.acquire(signal, asking).finally(() => tell({ what: "waited" }));
  },
});
