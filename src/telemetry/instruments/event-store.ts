import { SpanKind } from "@opentelemetry/api";
import { type EventStore, WrongExpectedRevision } from "../../eventstore/event-store.ts";
import type { Instruments } from "../meters.ts";
import { markFailed, parentAndLinks, runInSpan, startSpan } from "../spans.ts";
import { kindOf } from "./stream-kind.ts";

/**
 * An append holds the events of many requests. Its span is a child of the first that is traced and linked to the others,
 * as their metadata tells: whose turn it was that began it means nothing.
 */
export const instrumentEventStore = (meters: Instruments) => {
  const duration = meters.histogram("appendDuration");
  const size = meters.histogram("appendedEvents");

  return (store: EventStore): EventStore => ({
    ...store,
    append: async (stream, events, expected) => {
      const began = performance.now();
      const ended = (outcome: string): void => duration((performance.now() - began) / 1_000, { outcome });
      const span = spanOf(stream, events);
      try {
        const appending = () => store.append(stream, events, expected);
        const end = await (span ? runInSpan(span, appending) : appending());
        ended("stored");
        size(events.length);
        return end;
      } catch (error) {
        const isConflict = error instanceof WrongExpectedRevision;
        ended(isConflict ? "conflict" : "unavailable");
        if (span) markFailed(span, error);
        throw error;
      } finally {
        span?.end();
      }
    },
  });
};

const spanOf = (stream: string, events: Parameters<EventStore["append"]>[1]) => {
  const traceparents = events.flatMap(({ metadata }) => metadata.traceparent ?? []);
  const traced = traceparents.length > 0 ? parentAndLinks(traceparents) : undefined;
  if (!traced) return undefined;
  const attributes = { "voxledger.events": events.length };
  const { parent, links } = traced;
  return startSpan(`append ${kindOf(stream)}`, { kind: SpanKind.CLIENT, attributes, links }, parent);
};
