import type { Call, CircuitBreaker } from "../../async/circuit-breaker.ts";
import { tap } from "../../async/tap.ts";
import { EngineFailed } from "../../domain/errors.ts";
import type { Engine } from "../engine.ts";
import { UpstreamFailed } from "../provider-http/request-failed.ts";

/** The engine behind a circuit breaker. A call lasts until the last byte of its audio. */
export const withCircuitBreaker = (engine: Engine, circuit: CircuitBreaker<EngineFailed>): Engine => ({
  ...engine,
  synthesize: async (request, signal) => {
    signal.throwIfAborted();
    const call = circuit.start();
    signal.addEventListener("abort", call.ignored, { once: true });
    const onError = (error: unknown) => reportFailure(call, error);
    const onClose = () => {
      signal.removeEventListener("abort", call.ignored);
      call.ignored();
    };
    try {
      const speech = await engine.synthesize(request, signal);
      const observers = { onChunk: call.responded, onEnd: call.succeeded, onError, onClose };
      return { ...speech, audio: tap(speech.audio, observers) };
    } catch (error) {
      onError(error);
      onClose();
      throw error;
    }
  },
});

const reportFailure = (call: Call<EngineFailed>, error: unknown): void => {
  if (error instanceof UpstreamFailed && countsAgainstProvider(error)) {
    call.failed(error, (error.retryAfterSeconds ?? 0) * 1_000);
  } else call.ignored();
};

/**
 * A 4xx is about this one request. The exceptions fail the next request as well: refused
 * credentials, a timeout, too many requests.
 */
const countsAgainstProvider = ({ status }: UpstreamFailed): boolean =>
  status === undefined || status < 400 || status >= 500 || [401, 403, 408, 429].includes(status);

/**
 * The error while the circuit is open. Callers whose texts did not cause the failures get it, too,
 * so it has the loggable message.
 */
export const circuitOpenError = (lastFailure: EngineFailed, retryInMs: number): EngineFailed =>
  new EngineFailed(
    `The circuit is open after repeated failures of the speech provider: ${lastFailure.loggable}`,
    {
      retryAfterSeconds: Math.max(1, Math.ceil(retryInMs / 1_000)),
    },
  );
