import type { Call, CircuitBreaker } from "../../async/circuit-breaker.ts";
import type { Engine, Speech } from "../engine.ts";
import { UpstreamFailed } from "../provider-http/request-failed.ts";

/** The engine behind a circuit breaker: every synthesis is a call, which ends with the last of its sound. */
export const withCircuitBreaker = (engine: Engine, circuit: CircuitBreaker): Engine => ({
  ...engine,
  synthesize: async (request, signal) => {
    signal.throwIfAborted();
    const call = circuit.start();
    signal.addEventListener("abort", call.ignored, { once: true });
    try {
      const { encoding, audio } = await engine.synthesize(request, signal);
      return { encoding, audio: followed(audio, call, signal) };
    } catch (error) {
      signal.removeEventListener("abort", call.ignored);
      judge(call, error);
      throw error;
    }
  },
});

async function* followed(audio: Speech["audio"], call: Call, signal: AbortSignal): AsyncIterable<Buffer> {
  try {
    for await (const chunk of audio) {
      call.answered();
      yield chunk;
    }
    call.succeeded();
  } catch (error) {
    judge(call, error);
    throw error;
  } finally {
    signal.removeEventListener("abort", call.ignored);
    call.ignored();
  }
}

const judge = (call: Call, error: unknown): void => {
  if (error instanceof UpstreamFailed && isTheUpstreams(error)) call.failed(error);
  else call.ignored();
};

/**
 * Whether the next call had better not be made. Credentials that are refused are counted: they will be refused again.
 * Any other 4xx is an answer to what was asked, and to nothing else.
 */
const isTheUpstreams = ({ status }: UpstreamFailed): boolean =>
  status === undefined || status < 400 || status >= 500 || heldAgainst.has(status);

const heldAgainst: ReadonlySet<number> = new Set([401, 403, 408, 429]);
