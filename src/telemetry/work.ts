import { type Attributes, type Span, SpanKind } from "@opentelemetry/api";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { inSpan, isTraced, markFailed, startSpan, untraced } from "./spans.ts";

/** Work that is over when the last of what it makes has been read, given up, or failed. */
export interface Work {
  readonly span: Span;
  run<T>(step: () => T): T;
  /** The first of what is made is there. */
  begun(): void;
  done(): void;
  failed(error: unknown): void;
  /** Nobody reads on. */
  left(): void;
}

export interface WorkOptions {
  readonly name: string;
  readonly attributes: Attributes;
  readonly kind?: SpanKind;
  /** Whether it has a span even where nothing else is traced: the beginning of a trace. */
  readonly root?: boolean;
  readonly signal: AbortSignal;
  /** Told once each, with the seconds since the beginning. */
  readonly onBegun?: (seconds: number) => void;
  readonly onEnded?: (outcome: Outcome, seconds: number) => void;
}

export const beginWork = (options: WorkOptions): Work => {
  const { name, attributes, kind = SpanKind.INTERNAL, root = false, signal, onBegun, onEnded } = options;
  const span = root || isTraced() ? startSpan(name, { attributes, kind }) : untraced;
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1_000;
  let state: "waiting" | "begun" | "over" = "waiting";

  const end = (outcome: Outcome, error?: unknown): void => {
    if (state === "over") return;
    state = "over";
    signal.removeEventListener("abort", leave);
    onEnded?.(outcome, seconds());
    span.setAttribute("voxledger.outcome", outcome);
    if (outcome === "failed" || outcome === "unavailable") markFailed(span, error);
    span.end();
  };
  const leave = (): void => end("abandoned");
  signal.addEventListener("abort", leave, { once: true });

  return {
    span,
    run: (step) => inSpan(span, step),
    begun: () => {
      if (state !== "waiting") return;
      state = "begun";
      span.addEvent("first byte");
      onBegun?.(seconds());
    },
    done: () => end("made"),
    failed: (error) => end(outcomeOf(error, signal), error),
    left: leave,
  };
};

/** The same chunks, read as a part of the work; it is over with them. */
export async function* followed<T>(chunks: AsyncIterable<T>, work: Work): AsyncGenerator<T, void> {
  const reading = work.run(() => chunks[Symbol.asyncIterator]());
  try {
    for (;;) {
      const { done, value } = await work.run(() => reading.next());
      if (done) break;
      work.begun();
      yield value;
    }
    work.done();
  } catch (error) {
    work.failed(error);
    throw error;
  } finally {
    work.left();
    await work.run(() => reading.return?.());
  }
}
