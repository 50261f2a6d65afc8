import { SpanKind } from "@opentelemetry/api";
import { QuotaExceeded, type SynthesisServed, type UsageEvent } from "../../domain/usage/usage.ts";
import type { CommandHandler, DomainEvent } from "../../eventstore/command-handler.ts";
import { type EventStore, WrongExpectedRevision } from "../../eventstore/event-store.ts";
import type { Counter, Instruments } from "../instruments.ts";
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
 * An append holds the events of many requests. Its span is a child of the first traced one and linked to the others,
 * according to the events' metadata, not to the request that started the append.
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
  const traceparents = events.flatMap(({ metadata }) => metadata.traceparent ?? []);
  const traced = traceparents.length > 0 ? parentAndLinks(traceparents) : undefined;
  if (!traced) return undefined;
  const attributes = { "voxledger.events": events.length };
  const { parent, links } = traced;
  return startSpan(`append ${kindOf(stream)}`, { kind: SpanKind.CLIENT, attributes, links }, parent);
};

/** Counts servings by their events, and adds the trace context of each decision to its events. */
export const instrumentCommands = (instruments: Instruments, refusals: Counter) => {
  const count = createEventCounter(instruments);
  return (handler: CommandHandler): CommandHandler => ({
    execute: async (decider, stream, decide, metadata) => {
      try {
        const outcome = await (isRecording()
          ? withSpan(`record ${kindOf(stream)}`, {}, (span) =>
              handler.execute(decider, stream, decide, { ...metadata, ...(span && traceparentOf(span)) }),
            )
          : handler.execute(decider, stream, decide, metadata));
        for (const event of outcome.events) count(event);
        return outcome;
      } catch (error) {
        if (error instanceof QuotaExceeded) refusals.add(1, "quota");
        throw error;
      }
    },
    get pending() {
      return handler.pending;
    },
    drain: handler.drain,
  });
};

const createEventCounter = (instruments: Instruments) => {
  const answers = instruments.counter("answers");
  const characters = instruments.counter("characters");
  const voided = instruments.counter("voided");
  const voidedCharacters = instruments.counter("voidedCharacters");
  const streamsEnded = instruments.counter("streamsEnded");
  let streams = 0;
  instruments.observe("streamsOpen", (observeValue) => observeValue(streams));

  return (event: DomainEvent): void => {
    if (!isUsageEvent(event)) return;
    switch (event.type) {
      case "SynthesisServed":
        answers.add(1, event.data.cached, event.data.engine, deliveryOf(event.data));
        characters.add(event.data.characters, event.data.engine);
        if (event.data.stream) streams++;
        break;
      case "ServingVoided":
        if (!event.data.serving) break;
        voided.add(1, event.data.serving.engine);
        voidedCharacters.add(event.data.characters, event.data.serving.engine);
        break;
      case "StreamEnded":
        streamsEnded.add(1, event.data.outcome);
        streams--;
    }
  };
};

const usageEvents: ReadonlySet<string> = new Set(["SynthesisServed", "ServingVoided", "StreamEnded"]);
const isUsageEvent = (event: DomainEvent): event is UsageEvent => usageEvents.has(event.type);

const deliveryOf = ({ stream, partial }: SynthesisServed): string => stream ?? (partial ? "part" : "whole");
