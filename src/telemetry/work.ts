import { type Attributes, type Span, SpanKind } from "@opentelemetry/api";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { isRecording, markFailed, noopSpan, runInSpan, startSpan } from "./spans.ts";

/** Work that is over when the last of what it makes has been read, given up, or failed. */
export interface Operation {
  readonly span: Span;
  run<T>(step: () => T): T;
  /** The first of what is made is there. */
  firstByte(): void;
  end(): void;
  fail(error: unknown): void;
  /** Nobody reads on. */
  abandon(): void;
}

export interface OperationOptions {
  readonly name: string;
  readonly attributes: Attributes;
  readonly kind?: SpanKind;
  /** Whether it has a span even where nothing else is traced: the beginning of a trace. */
  readonly root?: boolean;
  readonly signal: AbortSignal;
  /** Told once each, with the seconds since the beginning. */
  readonly onFirstByte?: (seconds: number) => void;
  readonly onEnd?: (outcome: Outcome, seconds: number) => void;
}

export const startOperation = (options: OperationOptions): Operation => {
  const { name, attributes, kind = SpanKind.INTERNAL, root = false, signal, onFirstByte, onEnd } = options;
  const span = root || isRecording() ? startSpan(name, { attributes, kind }) : noopSpan;
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1_000;
  let state: "waiting" | "begun" | "over" = "waiting";

  const end = (outcome: Outcome, error?: unknown): void => {
    if (state === "over") return;
    state = "over";
    signal.removeEventListener("abort", leave);
    onEnd?.(outcome, seconds());
    span.setAttribute("voxledger.outcome", outcome);
    if (outcome === "failed" || outcome === "unavailable") markFailed(span, error);
    span.end();
  };
  const leave = (): void => end("abandoned");
  signal.addEventListener("abort", leave, { once: true });

  return {
    span,
    run: (step) => runInSpan(span, step),
    firstByte: () => {
      if (state !== "waiting") return;
      state = "begun";
      span.addEvent("first byte");
      onFirstByte?.(seconds());
    },
    end: () => end("made"),
    fail: (error) => end(outcomeOf(error, signal), error),
    abandon: leave,
  };
};

/** The same chunks, read as a part of the work; it is over with them. */
export async function* trackStream<T>(chunks: AsyncIterable<T>, work: Operation): AsyncGenerator<T, void> {
  const reading = work.run(() => chunks[Symbol.asyncIterator]());
  try {
    for (;;) {
      const { done, value } = await work.run(() => reading.next());
      if (done) break;
      work.firstByte();
      yield value;
    }
    work.end();
  } catch (error) {
    work.fail(error);
    throw error;
  } finally {
    work.abandon();
    await work.run(() => reading.return?.());
  }
}
