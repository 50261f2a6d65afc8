import type { IncomingMessage } from "node:http";
import { type Context, propagation, ROOT_CONTEXT, TraceFlags, trace } from "@opentelemetry/api";
import type { Sampling } from "../bootstrap/telemetry-settings.ts";

/**
 * What is traced is decided once, where a trace begins: the SDK needs 2 µs to begin a span only to find that nobody will
 * see it, which is a twentieth of what an answer from memory costs.
 */
export interface Sampler {
  /** Draws for a trace that begins here. */
  shouldSample(): boolean;
  /** The context that a request's span is to begin in; undefined when it is not to be traced. */
  parentContext(request: IncomingMessage): Context | undefined;
}

export const createSampler = (
  sampling: Sampling | undefined,
  /** Whose `traceparent` is gone on with: whoever else sends one would decide what is traced here. */
  isTrusted: (address: string) => boolean,
  random: () => number = Math.random,
): Sampler => {
  const { ratio, parentBased } = sampling ?? { ratio: 0, parentBased: false };
  const shouldSample = (): boolean => random() < ratio;

  const fromCaller = ({ headers, socket }: IncomingMessage): Context | undefined => {
    if (!isTrusted(socket.remoteAddress ?? "")) return undefined;
    const given = propagation.extract(ROOT_CONTEXT, headers);
    return trace.getSpanContext(given) && given;
  };

  return {
    shouldSample,
    parentContext: (request) => {
      if (!sampling) return undefined;
      const given = request.headers.traceparent === undefined ? undefined : fromCaller(request);
      const isWanted = given && parentBased ? isSampled(given) : shouldSample();
      return isWanted ? (given ?? ROOT_CONTEXT) : undefined;
    },
  };
};

const isSampled = (context: Context): boolean =>
  ((trace.getSpanContext(context)?.traceFlags ?? TraceFlags.NONE) & TraceFlags.SAMPLED) !== 0;
