import { type Attributes, type Span, SpanKind } from "@opentelemetry/api";
import { FoundInStore } from "../audio/pipeline/store-recheck.ts";
import { Invalid, Unavailable } from "../domain/errors.ts";
import { isRecording, markFailed, noopSpan, runInSpan, startSpan } from "./spans.ts";

/**
 * `refused`: the text cannot be spoken. `abandoned`: no caller was left, or another instance had
 * stored the audio. The values are those of the metrics' attribute `outcome`.
 */
export type Outcome = "made" | "refused" | "failed" | "unavailable" | "abandoned";

export interface OperationOptions {
  readonly name: string;
  readonly attributes: Attributes;
  readonly kind?: SpanKind;
  /** Starts a trace if none is active. */
  readonly root?: boolean;
  readonly signal: AbortSignal;
  /** Called at most once, with the seconds since the start. */
  readonly onFirstByte?: (seconds: number) => void;
  /** Called once, with the seconds since the start. */
  readonly onEnd?: (outcome: Outcome, seconds: number) => void;
}

type Operation = ReturnType<typeof startOperation>;

/**
 * Starts to measure and trace work. It ends when its output has been read to the end, is abandoned,
 * or fails.
 */
export const startOperation = (options: OperationOptions) => {
  const { name, attributes, kind = SpanKind.INTERNAL, root = false, signal, onFirstByte, onEnd } = options;
  const span = root || isRecording() ? startSpan(name, { attributes, kind }) : noopSpan;
  const startedAt = performance.now();
  const seconds = (): number => (performance.now() - startedAt) / 1_000;
  let state: "waiting" | "streaming" | "ended" = "waiting";

  const end = (outcome: Outcome, error?: unknown): void => {
    if (state === "ended") return;
    state = "ended";
    signal.removeEventListener("abort", cancel);
    onEnd?.(outcome, seconds());
    span.setAttribute("voxledger.outcome", outcome);
    if (outcome === "failed" || outcome === "unavailable") markFailed(span, error);
    span.end();
  };
  const cancel = (): void => end("abandoned");
  signal.addEventListener("abort", cancel, { once: true });

  return {
    span,
    /** Runs a step in the operation's span. */
    run: <T>(step: () => T): T => runInSpan(span, step),
    firstByte: (): void => {
      if (state !== "waiting") return;
      state = "streaming";
      span.addEvent("first byte");
      onFirstByte?.(seconds());
    },
    end: (): void => end("made"),
    fail: (error: unknown): void => end(outcomeOf(error, signal), error),
    cancel,
  };
};

const outcomeOf = (error: unknown, signal: AbortSignal): Outcome => {
  if (signal.aborted || error instanceof FoundInStore) return "abandoned";
  if (error instanceof Unavailable) return "unavailable";
  return error instanceof Invalid ? "refused" : "failed";
};

/** Passes the chunks through. The operation ends with the stream. */
export async function* trackStream<T>(
  chunks: AsyncIterable<T>,
  operation: Operation,
): AsyncGenerator<T, void> {
  const iterator = operation.run(() => chunks[Symbol.asyncIterator]());
  try {
    for (;;) {
      const { done, value } = await operation.run(() => iterator.next());
      if (done) break;
      operation.firstByte();
      yield value;
    }
    operation.end();
  } catch (error) {
    operation.fail(error);
    throw error;
  } finally {
    operation.cancel();
    await operation.run(() => iterator.return?.());
  }
}

/** Starts the operation, and tracks the stream that `start` resolves with. */
export const runOperation = async <R, T>(
  options: OperationOptions,
  start: () => Promise<R>,
  streamOf: (result: R) => AsyncIterable<T>,
  onStart: (span: Span, result: R) => void = () => {},
): Promise<[result: R, stream: AsyncIterable<T>]> => {
  const operation = startOperation(options);
  try {
    const result = await operation.run(start);
    onStart(operation.span, result);
    return [result, trackStream(streamOf(result), operation)];
  } catch (error) {
    operation.fail(error);
    throw error;
  }
};
