import type { SynthesisServed, UsageEvent } from "../../domain/usage/usage.ts";
import { QuotaExceeded } from "../../domain/usage/usage.ts";
import type { CommandHandler, DomainEvent } from "../../eventstore/command-handler.ts";
import type { Counter } from "../counter.ts";
import type { Instruments } from "../meters.ts";
import { isRecording, traceparentOf, withSpan } from "../spans.ts";
import { kindOf } from "./stream-kind.ts";

/** What is on the ledger is counted from its events; each event leads to the trace that it was decided in. */
export const instrumentCommands = (meters: Instruments, refusals: Counter) => {
  const count = createCount(meters);
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

const createCount = (meters: Instruments) => {
  const answers = meters.counter("answers");
  const characters = meters.counter("characters");
  const voided = meters.counter("voided");
  const voidedCharacters = meters.counter("voidedCharacters");
  const streamsEnded = meters.counter("streamsEnded");
  let streams = 0;
  meters.gauge("streamsOpen", (observe) => observe(streams));

  return (event: DomainEvent): void => {
    if (!isOfUsage(event)) return;
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
const isOfUsage = (event: DomainEvent): event is UsageEvent => usageEvents.has(event.type);

const deliveryOf = ({ stream, partial }: SynthesisServed): string => stream ?? (partial ? "part" : "whole");
