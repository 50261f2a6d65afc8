import { Invalid } from "../errors.ts";
import { RecentIds } from "../recent-ids.ts";
import { type DataOf, type EventOf, flag, optional, text, utcTime } from "../shape.ts";
import type { Idempotency } from "./journal/serving.ts";

/**
 * The uses of one Idempotency-Key of one API key, in the stream `idempotency-{apiKey}-{digest}`; or
 * of one part of a website's articles in one month, in `idempotency-{websiteId}-{digest}`. The
 * stream decides which of several requests is charged. The charges themselves are in the journals.
 */
export const idempotencyShapes = {
  /**
   * A request with the key begins. Repeats wait for it. The claim ends when its request is charged
   * or released, or when its journal is closed. The event is repeated while the request is in
   * progress.
   *
   * Earlier versions, which know no claims, fold every event but `IdempotencyKeyReleased` as a use.
   * A claim has no effect on them, because it is a `repeat` and has no `requestId`.
   */
  IdempotencyKeyClaimed: {
    /** The id of the request. */
    by: text,
    request: text,
    /** The journal of the process that works for the request. */
    journal: text,
    repeat: flag,
    at: utcTime,
  },
  IdempotencyKeyUsed: {
    requestId: text,
    /** The digest of the request's parameters. */
    request: text,
    /** True if an earlier request with the same parameters is charged. */
    repeat: optional(flag),
    /**
     * True if it was recorded from the journal of a process that is gone. The recording process
     * voids the charge of a repeat.
     */
    recovered: optional(flag),
    at: utcTime,
  },
  /** The charge of this request is voided: the next request is charged. */
  IdempotencyKeyReleased: { requestId: text, at: utcTime },
};
export type IdempotencyEvent = EventOf<typeof idempotencyShapes>;
type IdempotencyKeyUsed = DataOf<typeof idempotencyShapes.IdempotencyKeyUsed>;
export type IdempotencyKeyClaimed = DataOf<typeof idempotencyShapes.IdempotencyKeyClaimed>;

export interface IdempotencyState {
  /** The last charged use; undefined if there is none, or it was released. */
  readonly charged: IdempotencyKeyUsed | undefined;
  readonly repeats: number;
  /** The claim of a request in progress. */
  readonly claim: IdempotencyKeyClaimed | undefined;
  /** The last 1,000 requests whose uses were recorded or released. */
  readonly requests: RecentIds;
  /** The requests whose charges are voided by the recovery of their journal. */
  readonly recoveredRepeats: readonly string[];
}

/**
 * A repeated Idempotency-Key is not charged again for this long. Parts of articles have no such
 * limit.
 */
export const idempotencyMs = 24 * 60 * 60_000;

export const idempotencyStream = (
  apiKey: string,
  { key, website }: Pick<Idempotency, "key" | "website">,
): string => `idempotency-${website ?? apiKey}-${key}`;

const initial = (): IdempotencyState => ({
  charged: undefined,
  repeats: 0,
  claim: undefined,
  requests: RecentIds.of([]),
  recoveredRepeats: [],
});

const evolve = (before: IdempotencyState, event: IdempotencyEvent): IdempotencyState => {
  switch (event.type) {
    case "IdempotencyKeyClaimed":
      return { ...before, claim: event.data };
    case "IdempotencyKeyReleased": {
      const state = withoutRequest(before, event.data);
      if (state.charged?.requestId !== event.data.requestId) return state;
      return { ...state, charged: undefined, repeats: 0 };
    }
    case "IdempotencyKeyUsed":
      return evolveUse(withoutRequest(before, event.data), event.data);
    default:
      return before; // The event is of a later version, or malformed.
  }
};

/** The state after a request has ended. */
const withoutRequest = (
  { claim, ...state }: IdempotencyState,
  { requestId }: { readonly requestId: string },
): IdempotencyState => ({
  ...state,
  claim: claim?.by === requestId ? undefined : claim,
  requests: state.requests.with(requestId),
});

const evolveUse = (state: IdempotencyState, use: IdempotencyKeyUsed): IdempotencyState => {
  if (!use.repeat) return { ...state, charged: use, repeats: 0 };
  // The charge of a recovered repeat is voided. `repeats` does not count it, because its audio was
  // not served on the other request's charge.
  return use.recovered
    ? { ...state, recoveredRepeats: [...state.recoveredRepeats, use.requestId] }
    : { ...state, repeats: state.repeats + 1 };
};

export const idempotencyDecider = { initial, evolve };

type Use = Idempotency & { readonly requestId: string; readonly at: string };

/**
 * True if a request with the same Idempotency-Key was charged in the last 24 hours.
 * @throws {Invalid} when its parameters were different
 */
export const isRepeat = (state: IdempotencyState, use: Use): boolean => {
  if (!isInUse(state, use)) return false;
  const recorded = state.charged?.request;
  if (recorded === use.request || recorded === use.formerRequest) return true;
  throw usedOtherwise();
};

const usedOtherwise = (): Invalid =>
  new Invalid([{ path: ["Idempotency-Key"], message: "was used with another request within 24 hours." }]);

const isInUse = ({ charged }: IdempotencyState, { at, website }: Pick<Use, "at" | "website">): boolean =>
  charged !== undefined &&
  (website !== undefined || Date.parse(charged.at) >= Date.parse(at) - idempotencyMs);

/**
 * Claims the key for a request that begins. Returns no event if a request with it is charged, or if
 * another one is in progress (`state.claim`), for which the caller must wait. `isClosed`: true if a
 * claim's journal is closed.
 * @throws {Invalid} when the parameters of that request were different
 */
export const claimKey = (
  state: IdempotencyState,
  use: Use,
  journal: string,
  isClosed: (journal: string) => boolean,
): IdempotencyEvent[] => {
  if (isRepeat(state, use)) return [];
  const { claim } = state;
  if (!claim || claim.by === use.requestId || isClosed(claim.journal)) return [claimed(use, journal)];
  if (claim.request !== use.request) throw usedOtherwise();
  return [];
};

/**
 * Shows that the request is still in progress. Returns no event if it has ended, or if another
 * request has claimed the key.
 */
export const renewClaim = (state: IdempotencyState, use: Use, journal: string): IdempotencyEvent[] =>
  state.claim?.by === use.requestId ? [claimed(use, journal)] : [];

const claimed = ({ requestId: by, request, at }: Use, journal: string): IdempotencyEvent => ({
  type: "IdempotencyKeyClaimed",
  data: { by, request, journal, repeat: true, at },
});

/**
 * Records the first repeat, so that the charge is not voided later. Returns no event for further
 * repeats, so that the stream stays short.
 * @throws {Invalid}
 */
export const recordRepeat = (state: IdempotencyState, use: Use): IdempotencyEvent[] =>
  isRepeat(state, use) && state.repeats === 0 ? [used(use, true)] : [];

/**
 * Records a charged request. It is a repeat if a concurrent request was faster. Returns no event if
 * the recovery of its journal has recorded it.
 * @throws {Invalid}
 */
export const recordUse = (state: IdempotencyState, use: Use): IdempotencyEvent[] =>
  isRecorded(state, use) ? [] : [used(use, isRepeat(state, use))];

/**
 * Records a charged request of a journal whose process is gone. Returns no event if the process has
 * recorded or released it. If the event has `repeat`, its charge must be voided, because another
 * request with the key is charged.
 */
export const recoverUse = (state: IdempotencyState, use: Use): IdempotencyEvent[] => {
  if (isRecorded(state, use)) return [];
  const event = used(use, isInUse(state, use));
  return [{ ...event, data: { ...event.data, recovered: true } }];
};

const isRecorded = ({ requests }: IdempotencyState, { requestId }: { readonly requestId: string }): boolean =>
  requests.has(requestId);

/**
 * Releases the key for a charge that is to be voided. Returns no event if the charge stays because
 * a repeat was served, or if the recovery of its journal voids it. Otherwise it returns an event,
 * even if the key is not in use. After this event, the use cannot be recorded any more: neither by
 * a recovery nor by an append whose outcome is still unknown.
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
