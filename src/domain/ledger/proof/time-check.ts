import { isOfType } from "../../event-shapes.ts";
import type { ClockEvent } from "../journal/clock-corrections.ts";
import type { ProvenEvent } from "../seals/proven-event.ts";
import { sealsStream } from "../seals/seal.ts";
import { nameOf } from "./not-genuine.ts";

/** Remarks tell an auditor about unusual times in a genuine log. Each is one line. */
export type Remarks = readonly string[];

/** Clocks may be 60 s off in either direction, and an append takes up to 10 s. */
const storedMs = 130_000;
const backMs = 120_000;
const unsealedMs = 2 * 60 * 60_000;
/** A running service appends at least one event, a seal, within this time. */
const pauseMs = 65 * 60_000;

const kinds = {
  stored: `events were stored more than ${storedMs / 1_000} s before or after their own time`,
  back: `events are more than ${backMs / 1_000} s earlier than the one before in their stream`,
  unsealed: "events were recorded although there had been no seal for two hours",
};

/**
 * Compares the times of events with each other. A finding does not prove that a log was changed:
 * clocks are set, and stores are down. The comparison starts again after `ClockCorrected`.
 */
export const createTimeCheck = ({ isWholeLog = true }: { readonly isWholeLog?: boolean } = {}) => {
  const found = new Map<keyof typeof kinds, { count: number; readonly first: string }>();
  const corrections: string[] = [];
  const lastTimes = new Map<string, number>();
  /** Times up to this one were in the future when they were recorded. */
  let wrongUntil = Number.NEGATIVE_INFINITY;
  let lastStored = Number.NaN;
  let unsealedSince: number | undefined;

  const find = (kind: keyof typeof kinds, event: ProvenEvent): void => {
    const known = found.get(kind);
    if (known) known.count += 1;
    else found.set(kind, { count: 1, first: nameOf(event) });
  };

  const checkOwnTime = (event: ProvenEvent, time: number): void => {
    const { stream, created, metadata } = event;
    // Events of commands that were allowed while the clock was wrong have the log's last time.
    // Their metadata say so.
    const isExplained =
      (time > created && time <= wrongUntil) || (metadata as { readonly clock?: unknown }).clock === "log";
    if (Math.abs(created - time) > storedMs && !isExplained) find("stored", event);
    const last = lastTimes.get(stream);
    if (last !== undefined && time < last - backMs) find("back", event);
    lastTimes.set(stream, time);
  };

  const checkSealed = (event: ProvenEvent): void => {
    const { created, stream } = event;
    if (stream === sealsStream) unsealedSince = undefined;
    else if (unsealedSince === undefined || created - lastStored > pauseMs) unsealedSince = created;
    else if (created - unsealedSince > unsealedMs) find("unsealed", event);
    lastStored = created;
  };

  const correct = (event: ProvenEvent): void => {
    if (!isOfType<ClockEvent, ProvenEvent>(event, ["ClockCorrected"]) || !("until" in event.data)) return;
    const { at, until, journals } = event.data;
    wrongUntil = Math.max(wrongUntil, Date.parse(until));
    lastTimes.clear();
    unsealedSince = undefined;
    corrections.push(
      `the clock was corrected at ${at}: earlier events, those of ${journals.length} journals among them, have times up to ${until}`,
    );
  };

  return {
    add: (event: ProvenEvent): void => {
      correct(event);
      const time = Date.parse(String((event.data as { readonly at?: unknown }).at));
      if (!Number.isNaN(time)) checkOwnTime(event, time);
      if (isWholeLog) checkSealed(event);
    },
    remarks: (): Remarks => [
      ...corrections,
      ...[...found].map(([kind, { count, first }]) => `${count} ${kinds[kind]}, the first is ${first}`),
    ],
  };
};
