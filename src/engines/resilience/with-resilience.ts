import { createCircuitBreaker } from "../../async/circuit-breaker.ts";
import type { Scheduler } from "../../async/scheduler/scheduler.ts";
import type { Time } from "../../async/time.ts";
import type { EngineCode } from "../../domain/synthesis/speech.ts";
import type { Provider } from "../provider.ts";
import type { Exchange } from "../provider-http/exchange.ts";
import { circuitOpenError, withCircuitBreaker } from "./with-circuit-breaker.ts";
import { type ProviderEvent, type ReportProviderEvent, withEventReports } from "./with-event-reports.ts";
import { createLimiter, type LimiterOptions, withLimiter } from "./with-limiter.ts";
import { withRetry } from "./with-retry.ts";

export type DecorateExchange = (exchange: Exchange) => Exchange;

export interface ResilienceOptions {
  readonly limits: LimiterOptions;
  /** The requests wait in a resource of this scheduler, which has the name of the engine. */
  readonly scheduler: Scheduler;
  /** `websiteId`: the website whose credentials the provider has received. */
  readonly onEvent?: (engine: EngineCode, event: ProviderEvent, websiteId?: string) => void;
  readonly time?: Time;
  /** Returns a number from 0 to 1. */
  readonly random?: () => number;
}

/**
 * Wraps each client of a provider: circuit breaker(driver(retry(limiter(event
 * reports(exchange))))).
 *
 * Limiter and retry wrap the exchange and not the synthesis, because a long text takes several
 * requests. Each request is counted, and one that fails in the middle of audio can be repeated.
 * Retry is outside the limiter, so that a delay holds no slot. The circuit breaker is outermost: it
 * judges the driver's result after all retries (an HTML page with status 200 is a failure), and
 * while it is open no request enters the queue. Everything belongs to one set of credentials.
 */
export const withResilience = <Credentials, Code extends EngineCode>(
  providerWith: (decorate: DecorateExchange) => Provider<Credentials, Code>,
  { limits, scheduler, onEvent, time, random }: ResilienceOptions,
): Provider<Credentials, Code> => {
  const { open: _open, ...described } = providerWith((exchange) => exchange);
  const { code } = described;
  const timed = time ? { time } : {};
  return {
    ...described,
    open: (credentials, websiteId) => {
      const report: ReportProviderEvent = (event) => onEvent?.(code, event, websiteId);
      const limiter = createLimiter(scheduler, code, limits, time);
      const circuit = createCircuitBreaker({
        ...timed,
        openError: circuitOpenError,
        onChange: (state) => report({ what: "circuit", state }),
      });
      const onRetry = () => report({ what: "retried" });
      const decorate: DecorateExchange = (exchange) => {
        const limited = withLimiter(withEventReports(exchange, report), limiter, {
          ...timed,
          maxIdle: limits.concurrency,
        });
        return withRetry(limited, { ...timed, ...(random && { random }), onRetry });
      };
      const client = providerWith(decorate).open(credentials);
      return { ...client, engine: withCircuitBreaker(client.engine, circuit) };
    },
  };
};
