import { createCircuit } from "../../async/circuit-breaker.ts";
import type { Clock } from "../../async/clock.ts";
import type { EngineCode } from "../../domain/synthesis/speech.ts";
import type { Provider } from "../provider.ts";
import type { Exchange } from "../provider-http/exchange.ts";
import { createTurns, type TurnLimits, type Turns } from "./limiter.ts";
import { guarded } from "./with-circuit-breaker.ts";
import { limited } from "./with-limiter.ts";
import { observed, type Tell, type Told } from "./with-metrics.ts";
import { retried } from "./with-retry.ts";

/** What a provider puts around each exchange by which it asks. */
export type Careful = (exchange: Exchange) => Exchange;

export interface CareOptions {
  readonly limits: Pick<TurnLimits, "concurrency" | "perMinute">;
  readonly tell?: (engine: EngineCode, told: Told) => void;
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
export const caredFor = <Credentials, Code extends EngineCode>(
  providerWith: (careful: Careful) => Provider<Credentials, Code>,
  { limits, tell: tellOf, clock, random }: CareOptions,
): Provider<Credentials, Code> => {
  const { code, name } = providerWith((exchange) => exchange);
  const tell: Tell = (told) => tellOf?.(code, told);
  const timed = clock ? { clock } : {};
  return {
    code,
    name,
    open: (credentials) => {
      const turns = waited(createTurns(withQueue(limits), clock), tell);
      const circuit = createCircuit({ ...timed, onChange: (state) => tell({ what: "circuit", state }) });
      const retries = { ...timed, ...(random && { random }), onRetry: () => tell({ what: "retried" }) };
      const resting = { ...timed, restingAtMost: limits.concurrency };
      const careful: Careful = (exchange) =>
        retried(limited(observed(exchange, tell), turns, resting), retries);
      const account = providerWith(careful).open(credentials);
      return { ...account, engine: guarded(account.engine, circuit) };
    },
  };
};

/** More than that, and longer, nobody should wait before the upstream is even asked. */
const withQueue = (limits: CareOptions["limits"]): TurnLimits => ({
  ...limits,
  queueLimit: 25 * limits.concurrency,
  queueMs: 15_000,
});

const waited = (turns: Turns, tell: Tell): Turns => ({
  ...turns,
  take: (signal, asking) => {
    tell({ what: "waits" });
    return turns.take(signal, asking).finally(() => tell({ what: "waited" }));
  },
});
