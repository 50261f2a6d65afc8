import { withDeadline } from "../../async/deadline.ts";
import { repeatEvery } from "../../async/repeat.ts";
import { exponentialBackoff } from "../../async/retry.ts";
import { sleep } from "../../async/sleep.ts";
import type { Time } from "../../async/time.ts";
import { Unavailable } from "../../domain/errors.ts";
import { type IdempotencyKeyClaimed, idempotencyStream } from "../../domain/ledger/idempotency.ts";
import { OutcomeUnknown } from "../../eventstore/command-handler.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { throwUnavailable } from "../../eventstore/store-error.ts";
import type { BackgroundTasks } from "../background-tasks.ts";
import { readJournalEnd } from "../journal/journal-reader.ts";
import type { IdempotencyKeys, IdempotentRequest } from "./idempotency-keys.ts";

interface IdempotencyClaimsOptions {
  readonly store: EventStore;
  readonly idempotencyKeys: Pick<IdempotencyKeys, "claim" | "renew" | "release">;
  /**
   * The journal of this process; opens one if there is none.
   * @throws {Unavailable}
   */
  readonly openJournal: () => Promise<string>;
  /**
   * Closes the journal of another process. Idempotent.
   * @throws {Unavailable}
   */
  readonly closeJournal: (journal: string) => Promise<unknown>;
  readonly time: Time;
}

/**
 * A key that is claimed for a request in progress. The first call of either method ends the claim.
 */
export interface OpenClaim {
  /** The request is charged. */
  charged(): void;
  /** The request is not charged: the next one with the key counts as the first. */
  release(): void;
}

export type IdempotencyClaims = ReturnType<typeof createIdempotencyClaims>;

/** A claim ends after this time, because no request is in progress for longer. */
const maxClaimMs = 12 * 60_000;
/** Most requests end before their claim is renewed once. */
const renewMs = 4_000;
/** A process whose claim was not renewed for this long is gone, or cannot reach the event store. */
const idleMs = 10_000;
/** The longest wait of a repeat for the request in progress. */
const maxWaitMs = 30_000;
const pollMs = { firstMs: 50, maxMs: 1_000 };

/**
 * Claims Idempotency-Keys before any work. A repeat waits until the request in progress, of this or
 * another process, is charged or released. If the other process is gone, its journal is closed:
 * after that, the process can charge nothing for the claim.
 */
export const createIdempotencyClaims = (options: IdempotencyClaimsOptions, background: BackgroundTasks) => {
  const { store, idempotencyKeys, openJournal, closeJournal, time } = options;
  /** The requests of this process that are in progress, by the stream of their Idempotency-Key. */
  const own = new Map<string, Promise<void>>();

  const openClaim = (stream: string, request: IdempotentRequest): OpenClaim => {
    const ended = Promise.withResolvers<void>();
    own.set(stream, ended.promise);
    let isOpen = true;
    const stopRenewals = renewRegularly(request, () => claim.release());
    const end = (): boolean => {
      if (!isOpen) return false;
      isOpen = false;
      stopRenewals();
      return true;
    };
    const forget = (): void => {
      if (own.get(stream) === ended.promise) own.delete(stream);
      ended.resolve();
    };
    const claim: OpenClaim = {
      charged: () => {
        if (end()) forget();
      },
      release: () => {
        if (end()) release(request, forget);
      },
    };
    return claim;
  };

  const release = (request: IdempotentRequest, onReleased = (): void => {}): void => {
    void background.run(async () => {
      await idempotencyKeys.release(request);
      onReleased();
    });
  };

  const renewRegularly = (request: IdempotentRequest, onOverdue: () => void): (() => void) => {
    let renewals = 0;
    return repeatEvery(renewMs, time, async () => {
      if (++renewals * renewMs >= maxClaimMs) return onOverdue();
      // Others take over a claim that cannot be renewed. The next renewal does not wait for this
      // one.
      void openJournal()
        .then((journal) => idempotencyKeys.renew(request, journal))
        .catch(() => {});
    });
  };

  /**
   * Resolves when the claim may have ended. Adds the claim's journal to `closed` once it is closed,
   * and closes it if its process is gone.
   */
  const untilChanged = async (
    { journal, at }: IdempotencyKeyClaimed,
    seen: Sightings,
    signal: AbortSignal,
  ): Promise<void> => {
    const end = await readJournalEnd(store, journal).catch(throwUnavailable);
    const isClosed = end?.closedRevision !== undefined;
    if (seen.claimedAt !== at) Object.assign(seen, { claimedAt: at, since: time.now() });
    if (!isClosed && time.now() - seen.since >= idleMs) await closeJournal(journal);
    else if (!isClosed) {
      await sleep(exponentialBackoff(pollMs, ++seen.polls), { time, signal });
      return;
    }
    seen.closed.add(journal);
  };

  const claim = async (request: IdempotentRequest, signal: AbortSignal): Promise<OpenClaim | "repeat"> => {
    const stream = idempotencyStream(request.apiKey, request.idempotency);
    const seen: Sightings = { claimedAt: "", since: 0, polls: 0, closed: new Set() };
    for (;;) {
      signal.throwIfAborted();
      const journal = await openJournal();
      const found = await idempotencyKeys
        .claim(request, journal, (other) => seen.closed.has(other))
        .catch((error: unknown) => {
          if (error instanceof OutcomeUnknown) release(request);
          throw error;
        });
      if (found === "claimed") return openClaim(stream, request);
      if (found === "repeat") return found;
      await (own.get(stream) ?? untilChanged(found, seen, signal));
    }
  };

  return {
    /**
     * Resolves with the claim, or with `repeat` if a request with the key is charged.
     * @throws {Invalid} if its parameters were different
     * @throws {Unavailable} also if the request in progress takes too long
     * @throws the signal's reason
     */
    claim: async (request: IdempotentRequest, signal: AbortSignal): Promise<OpenClaim | "repeat"> => {
      const claiming = new AbortController();
      const either = AbortSignal.any([signal, claiming.signal]);
      const claimed = claim(request, either);
      try {
        const onTimeout = () => inProgress(request);
        return await withDeadline({ time, ms: maxWaitMs, onTimeout, signal }, () => claimed);
      } catch (error) {
        claiming.abort(error);
        // The claim may still succeed. Then it is released, because its request has ended.
        void claimed.then((late) => late !== "repeat" && late.release()).catch(() => {});
        throw error;
      }
    },
  };
};

/** Remembers which claims of others a waiting request has seen. */
interface Sightings {
  /** The time that the last claim states, and the time at which it was first seen. */
  claimedAt: string;
  since: number;
  polls: number;
  readonly closed: Set<string>;
}

const inProgress = ({ idempotency: { website } }: IdempotentRequest): Unavailable => {
  const what = website === undefined ? "with this Idempotency-Key" : "for the same article";
  return new Unavailable(`A request ${what} is in progress: try again.`, 2);
};
