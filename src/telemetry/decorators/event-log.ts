import { SpanKind } from "@opentelemetry/api";
import type { SynthesesServed } from "../../domain/ledger/journal/journal.ts";
import type { CommandHandler } from "../../eventstore/command-handler.ts";
import { type EventStore, type NewEvent, WrongExpectedRevision } from "../../eventstore/event-store.ts";
import type { Instruments } from "../instruments.ts";
import {
  isRecording,
  markFailed,
  parentAndLinks,
  runInSpan,
  startSpan,
  traceparentOf,
  withSpan,
} from "../spans.ts";

/** The kind of a stream, without the API key or website in its name. */
const kindOf = (stream: string): string => /^[a-z]+/.exec(stream)?.[0] ?? "other";

/**
 * An append holds the events or servings of many requests. Its span is a child of the first traced
 * request and linked to the others, not a child of the request that started the append.
 */
export const instrumentEventStore = (instruments: Instruments) => {
  const duration = instruments.histogram("appendDuration");
  const size = instruments.histogram("appendedEvents");

  return (store: EventStore): EventStore => ({
    ...store,
    append: async (stream, events, expected) => {
      const startedAt = performance.now();
      const end = (outcome: string): void => duration((performance.now() - startedAt) / 1_000, { outcome });
      const span = spanOf(stream, events);
      try {
        const append = () => store.append(stream, events, expected);
        const last = await (span ? runInSpan(span, append) : append());
        end("stored");
        size(events.length);
        return last;
      } catch (error) {
        const isConflict = error instanceof WrongExpectedRevision;
        end(isConflict ? "conflict" : "unavailable");
        if (span) markFailed(span, error);
        throw error;
      } finally {
        span?.end();
      }
    },
  });
};

const spanOf = (stream: string, events: Parameters<EventStore["append"]>[1]) => {
  const traceparents = events.flatMap(traceparentsOf);
  const traced = traceparents.length > 0 ? parentAndLinks(traceparents) : undefined;
  if (!traced) return undefined;
  const attributes = { "voxledger.events": events.length };
  const { parent, links } = traced;
  return startSpan(`append ${kindOf(stream)}`, { kind: SpanKind.CLIENT, attributes, links }, parent);
};

/** Returns the trace contexts of the event and of the servings in it. */
const traceparentsOf = ({ type, data, metadata }: NewEvent): string[] => {
  const details = type === "SynthesesServed" ? ((data as SynthesesServed).details ?? {}) : {};
  const ofServings = Object.values(details).map(({ traceparent }) => traceparent);
  return [metadata.traceparent, ...ofServings].filter((one) => one !== undefined);
};

/** Adds the trace context of each decision to its events. */
export const traceCommands = (handler: CommandHandler): CommandHandler => ({
  execute: (decider, stream, decide, metadata) =>
    isRecording()
      ? withSpan(`record ${kindOf(stream)}`, {}, (span) =>
          handler.execute(decider, stream, decide, { ...metadata, ...(span && traceparentOf(span)) }),
        )
      : handler.execute(decider, stream, decide, metadata),
  get pending() {
    return handler.pending;
  },
  drain: handler.drain,
});
