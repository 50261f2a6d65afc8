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
import { errorType } from "./outcome.ts";

/** Hands on to the SDK's own, once that is started. */
const tracer = trace.getTracer("voxledger");

/** A span that is recorded: whoever begins one has decided that its trace is to be seen. */
export const startSpan = tracer.startSpan.bind(tracer);

/** What stands for a span where nothing is traced. */
export const noopSpan = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** Whether what runs now belongs to a trace that somebody will see. */
export const isRecording = (): boolean => trace.getActiveSpan()?.isRecording() ?? false;

/** Runs it in a span of the trace that is active; without one where nothing is traced. An abort is no error. */
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

/** The kind of error alone: words may be a provider's, or name a path. */
export const markFailed = (span: Span, error: unknown): void => {
  span.setAttribute("error.type", errorType(error));
  span.setStatus({ code: SpanStatusCode.ERROR });
};

export const runInSpan = <T>(span: Span, run: () => T): T =>
  span.isRecording() ? context.with(trace.setSpan(context.active(), span), run) : run();

/** W3C trace context of a span that is recorded: every such span is also sampled (sampler.ts). */
export const traceparentOf = (span: Span): { readonly traceparent: string } => {
  const { traceId, spanId } = span.spanContext();
  return { traceparent: `00-${traceId}-${spanId}-01` };
};

const traceparent = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/;

/** The first of them as the parent of a new span, and links to the others. */
export const parentAndLinks = (traceparents: Iterable<string>) => {
  const [first, ...others] = [...new Set(traceparents)].map(spanContextOf).filter((one) => one !== undefined);
  const links: Link[] = others.map((other) => ({ context: other }));
  return first && { parent: trace.setSpanContext(ROOT_CONTEXT, first), links };
};

const spanContextOf = (text: string): SpanContext | undefined => {
  const [, traceId, spanId] = traceparent.exec(text) ?? [];
  return traceId && spanId ? { traceId, spanId, traceFlags: TraceFlags.SAMPLED } : undefined;
};
