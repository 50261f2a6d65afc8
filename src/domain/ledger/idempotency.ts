import { Invalid } from "../errors.ts";
import { type DataOf, type EventOf, flag, optional, text, utcTime } from "../shape.ts";
import type { Idempotency } from "./serving.ts";

/**
 * The uses of one Idempotency-Key of one API key. Stream `idempotency-{apiKey}-{digest}`. The journals alone charge: this stream
 * decides which of several requests is the charged one.
 */
export const idempotencyShapes = {
  IdempotencyKeyUsed: {
    requestId: text,
    /** The digest of the request's parameters. */
    request: text,
    /** True if an earlier request with the same parameters is charged. */
    repeat: optional(flag),
    /** True if it was recorded from the journal of a process that is gone. The recording process voids the charge of a repeat. */
    recovered: optional(flag),
    at: utcTime,
  },
  /** The charge of this request is voided: the next request is charged. */
  IdempotencyKeyReleased: { requestId: text, at: utcTime },
};
export type IdempotencyEvent = EventOf<typeof idempotencyShapes>;
type IdempotencyKeyUsed = DataOf<typeof idempotencyShapes.IdempotencyKeyUsed>;

/** The last charged use; undefined if there is none, or it was released. */
export interface IdempotencyState {
  readonly charged: IdempotencyKeyUsed | undefined;
  readonly repeats: number;
  /** The requests that the last 1,000 events name. */
  readonly requests: readonly string[];
  /** Those whose charges are voided by the recovery of their journal. */
  readonly recoveredRepeats: readonly string[];
}

/** A repeated Idempotency-Key is not charged again for this long. */
export const idempotencyMs = 24 * 60 * 60_000;

export const idempotencyStream = (apiKey: string, digest: string): string =>
  `idempotency-${apiKey}-${digest}`;

const maxRequests = 1_000;

const initial = (): IdempotencyState => ({
  charged: undefined,
  repeats: 0,
  requests: [],
  recoveredRepeats: [],
});

const evolve = (before: IdempotencyState, { type, data }: IdempotencyEvent): IdempotencyState => {
  const state = { ...before, requests: [...before.requests, data.requestId].slice(-maxRequests) };
  if (type === "IdempotencyKeyReleased") {
    return state.charged?.requestId === data.requestId ? { ...state, charged: undefined, repeats: 0 } : state;
  }
  if (!data.repeat) return { ...state, charged: data, repeats: 0 };
  // The charge of a recovered repeat is voided: no audio was served on the strength of the other charge.
  return data.recovered
    ? { ...state, recoveredRepeats: [...state.recoveredRepeats, data.requestId] }
    : { ...state, repeats: state.repeats + 1 };
};

export const idempotencyDecider = { initial, evolve };

type Use = Idempotency & { readonly requestId: string; readonly at: string };

/**
 * True if a request with the same Idempotency-Key is charged, and not longer than 24 hours ago.
 * @throws {Invalid} when its parameters were different
 */
export const isRepeat = (state: IdempotencyState, use: Use): boolean => {
  if (!isInUse(state, use)) return false;
  if (state.charged?.request === use.request) return true;
  throw new Invalid([
    { path: ["Idempotency-Key"], message: "was used with another request within 24 hours." },
  ]);
};

const isInUse = ({ charged }: IdempotencyState, { at }: Pick<Use, "at">): boolean =>
  charged !== undefined && Date.parse(charged.at) >= Date.parse(at) - idempotencyMs;

/**
 * Records the first repeat, so that the charge is not voided later. No event for further ones: however often a request is
 * repeated, its stream stays short. @throws {Invalid}
 */
export const recordRepeat = (state: IdempotencyState, use: Use): IdempotencyEvent[] =>
  isRepeat(state, use) && state.repeats === 0 ? [used(use, true)] : [];

/**
 * Records a charged request. It is a repeat if a concurrent request was faster. No event if the recovery of its journal has
 * recorded it. @throws {Invalid}
 */
export const recordUse = (state: IdempotencyState, use: Use): IdempotencyEvent[] =>
  isRecorded(state, use) ? [] : [used(use, isRepeat(state, use))];

/**
 * Records a charged request of a journal whose process is gone. No event if the process has recorded or released it. An event
 * with `repeat`: its charge must be voided, because another request with the key is charged.
 */
export const recoverUse = (state: IdempotencyState, use: Use): IdempotencyEvent[] => {
  if (isRecorded(state, use)) return [];
  const event = used(use, isInUse(state, use));
  return [{ ...event, data: { ...event.data, recovered: true } }];
};

const isRecorded = ({ requests }: IdempotencyState, { requestId }: { readonly requestId: string }): boolean =>
  requests.includes(requestId);

/**
 * Releases the key for a charge that is to be voided. No event if the charge stays, because a repeat was served, or if the recovery
 * of its journal voids it. Otherwise always an event: neither an append of the use with an unknown outcome nor a recovery can
 * record the use after it.
 */
export const releaseKey = (
  { charged, repeats, recoveredRepeats }: IdempotencyState,
  { requestId, at }: { readonly requestId: string; readonly at: string },
): IdempotencyEvent[] => {
  const stays = charged?.requestId === requestId && repeats > 0;
  if (stays || recoveredRepeats.includes(requestId)) return [];
  return [{ type: "IdempotencyKeyReleased", data: { requestId, at } }];
};

const used = (
  { requestId, request, at }: Use,
  repeat: boolean,
): Extract<IdempotencyEvent, { type: "IdempotencyKeyUsed" }> => ({
  type: "IdempotencyKeyUsed",
  data: { requestId, request, ...(repeat && { repeat }), at },
});
