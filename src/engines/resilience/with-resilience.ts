import { createCircuitBreaker } from "../../async/circuit-breaker.ts";
import type { Clock } from "../../async/clock.ts";
import type { EngineCode } from "../../domain/synthesis/speech.ts";
import type { Provider } from "../provider.ts";
import type { Exchange } from "../provider-http/exchange.ts";
import { circuitOpenError, withCircuitBreaker } from "./with-circuit-breaker.ts";
import { createLimiter, type Limiter, type LimiterOptions, withLimiter } from "./with-limiter.ts";
import { type ProviderEvent, type ReportProviderEvent, withMetrics } from "./with-metrics.ts";
import { withRetry } from "./with-retry.ts";

export type DecorateExchange = (exchange: Exchange) => Exchange;

export interface ResilienceOptions {
  readonly limits: LimiterOptions;
  readonly onEvent?: (engine: EngineCode, event: ProviderEvent) => void;
  readonly clock?: Clock;
  /** 0 to 1. */
  readonly random?: () => number;
}

/**
 * Wraps each account of a provider: circuit breaker(driver(retry(limiter(metrics(exchange))))).
 *
 * Limiter and retry wrap the exchange and not the synthesis, because a long text takes several requests: each is counted,
 * and one that fails in the middle of a sound can be repeated. Retry is outside the limiter, so that a delay holds no
 * slot. The circuit breaker is outermost: it judges the driver's result after all retries (an HTML page with status 200
 * is a failure), and while it is open no request enters the queue. Everything belongs to one set of credentials.
 */
export const withResilience = <Credentials, Code extends EngineCode>(
  providerWith: (decorate: DecorateExchange) => Provider<Credentials, Code>,
  { limits, onEvent, clock, random }: ResilienceOptions,
): Provider<Credentials, Code> => {
  const { code, name } = providerWith((exchange) => exchange);
  const report: ReportProviderEvent = (event) => onEvent?.(code, event);
  const timed = clock ? { clock } : {};
  return {
    code,
    name,
    open: (credentials) => {
      const limiter = reportWaits(createLimiter(limits, clock), report);
      const circuit = createCircuitBreaker({
        ...timed,
        openError: circuitOpenError,
        onChange: (state) => report({ what: "circuit", state }),
      });
      const onRetry = () => report({ what: "retried" });
      const decorate: DecorateExchange = (exchange) => {
        const limited = withLimiter(withMetrics(exchange, report), limiter, {
          ...timed,
          maxIdle: limits.concurrency,
        });
        return withRetry(limited, { ...timed, ...(random && { random }), onRetry });
      };
      const account = providerWith(decorate).open(credentials);
      return { ...account, engine: withCircuitBreaker(account.engine, circuit) };
    },
  };
};

const reportWaits = ({ acquire }: Limiter, report: ReportProviderEvent): Pick<Limiter, "acquire"> => ({
  acquire: (signal, options) => {
    report({ what: "waits" });
    return acquire(signal, options).finally(() => report({ what: "waited" }));
  },
});
