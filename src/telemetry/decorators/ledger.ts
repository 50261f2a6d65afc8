import { KeyIsSuspended } from "../../domain/errors.ts";
import type { JournalEvent, SynthesesServed } from "../../domain/ledger/journal/journal.ts";
import type { ServingDetails } from "../../domain/ledger/journal/serving.ts";
import type { Ledger, RecordCallback } from "../../ledger/ledger.ts";
import type { Counter, Instruments } from "../instruments.ts";
import { isRecording, markFailed, startSpan, traceparentOf } from "../spans.ts";

/**
 * Counts open streams and requests over the quota, and adds the trace context to recorded servings.
 */
export const instrumentLedger = (instruments: Pick<Instruments, "observe">, refusals: Counter) => {
  // A stream is open from the receipt of its serving until its end is recorded. Without a receipt
  // it is voided, and no end is recorded.
  let openStreams = 0;
  instruments.observe("streamsOpen", (observeValue) => observeValue(openStreams));

  return (ledger: Ledger): Ledger => {
    const countRefusal = (error: unknown): void => {
      if (error instanceof KeyIsSuspended) refusals.add(1, "quota");
    };
    const record: Ledger["record"] = (principal, served, done, admission) => {
      const recorded: RecordCallback = (error, receipt) => {
        countRefusal(error);
        if (receipt?.serving.stream) openStreams++;
        done(error, receipt);
      };
      ledger.record(principal, served, recorded, admission);
    };

    const recordInSpan: Ledger["record"] = (principal, served, done, admission) => {
      const span = startSpan("record usage");
      const recorded: RecordCallback = (error, receipt) => {
        if (error) markFailed(span, error);
        span.end();
        done(error, receipt);
      };
      record(principal, { ...served, ...traceparentOf(span) }, recorded, admission);
    };

    return {
      ...ledger,
      get backgroundEntries() {
        return ledger.backgroundEntries;
      },
      record: (...request) => (isRecording() ? recordInSpan(...request) : record(...request)),
      recordStreamEnd: (receipt, ended) => {
        openStreams--;
        ledger.recordStreamEnd(receipt, ended);
      },
      admit: async (...request) => {
        try {
          return await ledger.admit(...request);
        } catch (error) {
          countRefusal(error);
          throw error;
        }
      },
    };
  };
};

/** Counts the entries of this process's journal when they are durable. */
export const createServingCounter = (instruments: Instruments) => {
  const responses = instruments.counter("responses");
  const characters = instruments.counter("characters");
  const voided = instruments.counter("voided");
  const voidedCharacters = instruments.counter("voidedCharacters");
  const streamsEnded = instruments.counter("streamsEnded");

  const countServed = ({
    sounds,
    sound,
    characters: charged,
    cached,
    details = {},
  }: SynthesesServed): void => {
    for (const [index, of] of sound.entries()) {
      const engine = sounds[of]?.engine ?? "";
      responses.add(1, cached[index] ?? "", engine, deliveryOf(details[index]));
      characters.add(charged[index] ?? 0, engine);
    }
  };

  return (events: readonly JournalEvent[]): void => {
    for (const { type, data } of events) {
      if (type === "SynthesesServed") countServed(data);
      else if (type === "ServingsVoided") {
        for (const { engine, characters: returned } of data.servings) {
          voided.add(1, engine);
          voidedCharacters.add(returned, engine);
        }
      } else if (type === "StreamsEnded") {
        for (const { outcome } of data.streams) streamsEnded.add(1, outcome);
      }
    }
  };
};

const deliveryOf = (details: ServingDetails | undefined): string =>
  details?.stream ?? (details?.partial ? "part" : "whole");
