import {
  type Attributes,
  context,
  INVALID_SPAN_CONTEXT,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";

/** Delegates to the SDK once it has started. */
const tracer = trace.getTracer("voxledger");

/** Starts a span. The caller has decided that its trace is sampled (sampler.ts). */
export const startSpan = tracer.startSpan.bind(tracer);

/** The span of work that is not traced. */
export const noopSpan = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** True within a sampled trace. */
export const isRecording = (): boolean => trace.getActiveSpan()?.isRecording() ?? false;

/**
 * Runs a function in a child span of the active trace, or without a span if there is none. An abort
 * is not an error.
 */
export const withSpan = <T>(
  name: string,
  attributes: Attributes,
  run: (span: Span | undefined) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> => {
  if (!isRecording()) return run(undefined);
  return tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await run(span);
    } catch (error) {
      if (!signal?.aborted) markFailed(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
};

/** Records only the type of the error: a message may come from a provider or contain a path. */
export const markFailed = (span: Span, error: unknown): void => {
  span.setAttribute("error.type", errorType(error));
  span.setStatus({ code: SpanStatusCode.ERROR });
};

/** The code of a system error, or the error's name. */
const errorType = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
};

/** Returns a function that runs in the trace that is active now, whichever trace calls it. */
export const inThisTrace = <T extends (...given: never[]) => void>(run: T): T =>
  context.bind(context.active(), run);

export const runInSpan = <T>(span: Span, run: () => T): T =>
  span.isRecording() ? context.with(trace.setSpan(context.active(), span), run) : run();

/** The W3C trace context of a recording span. Every recording span is sampled (sampler.ts). */
export const traceparentOf = (span: Span): { readonly traceparent: string } => {
  const { traceId, spanId } = span.spanContext();
  return { traceparent: `00-${traceId}-${spanId}-01` };
};

const traceparent = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/;

/** The first one becomes the parent of a new span, the others become links. */
export const parentAndLinks = (traceparents: Iterable<string>) => {
  const [first, ...others] = [...new Set(traceparents)].map(spanContextOf).filter((one) => one !== undefined);
  const links: Link[] = others.map((other) => ({ context: other }));
  return first && { parent: trace.setSpanContext(ROOT_CONTEXT, first), links };
};

const spanContextOf = (text: string): SpanContext | undefined => {
  const [, traceId, spanId] = traceparent.exec(text) ?? [];
  return traceId && spanId ? { traceId, spanId, traceFlags: TraceFlags.SAMPLED } : undefined;
};
