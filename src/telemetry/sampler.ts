import type { IncomingMessage } from "node:http";
import { type Context, propagation, ROOT_CONTEXT, TraceFlags, trace } from "@opentelemetry/api";
import type { Sampling } from "../settings/telemetry.ts";

export type Sampler = ReturnType<typeof createSampler>;

/**
 * Decides once, where a trace starts, whether it is sampled. The SDK takes 2 µs to start a span
 * that it then drops: a twentieth of the cost of a response from memory.
 */
export const createSampler = (
  sampling: Sampling | undefined,
  /**
   * True for addresses whose `traceparent` is continued. Without this check, any caller could
   * decide what is traced here.
   */
  isTrusted: (address: string) => boolean,
  random: () => number = Math.random,
) => {
  const { ratio, parentBased } = sampling ?? { ratio: 0, parentBased: false };
  const shouldSample = (): boolean => random() < ratio;

  const fromCaller = ({ headers, socket }: IncomingMessage): Context | undefined => {
    if (!isTrusted(socket.remoteAddress ?? "")) return undefined;
    const given = propagation.extract(ROOT_CONTEXT, headers);
    return trace.getSpanContext(given) && given;
  };

  return {
    /** Decides whether a trace that starts here is sampled. */
    shouldSample,
    /** The parent context of the request's span, or undefined if the request is not traced. */
    parentContext: (request: IncomingMessage): Context | undefined => {
      if (!sampling) return undefined;
      const given = request.headers.traceparent === undefined ? undefined : fromCaller(request);
      const isWanted = given && parentBased ? isSampled(given) : shouldSample();
      return isWanted ? (given ?? ROOT_CONTEXT) : undefined;
    },
  };
};

const isSampled = (context: Context): boolean =>
  ((trace.getSpanContext(context)?.traceFlags ?? TraceFlags.NONE) & TraceFlags.SAMPLED) !== 0;
