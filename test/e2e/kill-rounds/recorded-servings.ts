import { journalPrefix } from "../../../src/domain/ledger/journal/journal.ts";
import type { Serving, VoidedServing } from "../../../src/domain/ledger/journal/serving.ts";
import { monthOf } from "../../../src/domain/ledger/month.ts";
import type { EventStore, RecordedEvent } from "../../../src/eventstore/event-store.ts";
import { entriesOf } from "../../support/read-journal.ts";
import type { Observed } from "./load.ts";

export interface Recorded extends Serving {
  readonly month: string;
  readonly journalStream: string;
  voided?: VoidedServing;
}

/** The servings of all journals, checked while they are read. */
export interface RecordedServings {
  /**
   * Reads what was appended since the last call.
   * @throws if a serving is recorded or voided twice
   */
  readOn(): Promise<void>;
  /** Charged characters. */
  charged(apiKey: string, month: string): number;
  /** @throws if more than the quota was charged in a month */
  checkQuota(apiKey: string, quota: number | null): void;
  /** True if a serving of the key was voided. */
  hasVoids(apiKey: string): boolean;
  /**
   * `isFinal`: all processes have ended. Then a request that got 503 may be charged only if its
   * process was killed.
   * @throws if a response is not recorded or voided, or an Idempotency-Key is charged wrongly
   */
  check(observed: Observed, isFinal?: boolean): void;
}

export const createRecordedServings = (store: EventStore): RecordedServings => {
  const servings = new Map<string, Recorded>();
  const charges = new Map<string, number>();
  const withVoids = new Set<string>();
  /** The streams of the journals that their own processes have closed. */
  const completed = new Set<string>();
  let position: number | undefined;

  const charge = ({ apiKey, month }: Recorded, characters: number): void => {
    const name = `${apiKey} ${month}`;
    charges.set(name, (charges.get(name) ?? 0) + characters);
  };
  const add = (serving: Serving, at: string, journalStream: string): void => {
    if (servings.has(serving.requestId)) throw new Error(`${serving.requestId} is recorded twice`);
    const recorded = { ...serving, month: monthOf(at), journalStream };
    servings.set(serving.requestId, recorded);
    charge(recorded, serving.characters);
  };
  const addVoid = (voided: VoidedServing): void => {
    const serving = servings.get(voided.requestId);
    if (!serving || serving.voided) throw new Error(`${voided.requestId} is voided twice or not recorded`);
    serving.voided = voided;
    withVoids.add(serving.apiKey);
    charge(serving, -voided.characters);
  };

  return {
    readOn: async () => {
      const after = position === undefined ? {} : { fromExclusive: position };
      for await (const { events, caughtUp } of store.subscribe({ prefixes: [journalPrefix], ...after })) {
        for (const event of events) {
          const entries = entriesOf(event);
          for (const serving of entries.servings) add(serving, entries.at, event.stream);
          for (const voided of entries.voided) addVoid(voided);
          if (isClosedByOwner(event)) completed.add(event.stream);
          position = event.position;
        }
        if (caughtUp) break;
      }
    },
    charged: (apiKey, month) => charges.get(`${apiKey} ${month}`) ?? 0,
    checkQuota: (apiKey, quota) => {
      for (const [name, characters] of charges) {
        if (quota !== null && name.startsWith(`${apiKey} `) && characters > quota)
          throw new Error(
            `${characters} characters of ${apiKey} are charged, more than its quota of ${quota}`,
          );
      }
    },
    hasVoids: (apiKey) => withVoids.has(apiKey),
    check: (observed, isFinal = false) => {
      checkResponses(observed, servings);
      checkIdempotencyKeys(
        observed,
        servings,
        ({ journalStream }) => !isFinal || !completed.has(journalStream),
      );
    },
  };
};

const checkResponses = ({ responses }: Observed, servings: ReadonlyMap<string, Recorded>): void => {
  for (const { requestId, apiKey } of responses) {
    const serving = servings.get(requestId);
    if (serving?.apiKey !== apiKey) throw new Error(`the answer ${requestId} is not recorded`);
    // A concurrent request with the same Idempotency-Key was charged instead.
    if (serving.voided && serving.voided.reason !== "repeat")
      throw new Error(`the answer ${requestId} is voided`);
  }
};

/**
 * A served Idempotency-Key is charged, and once more at most for each request that was cut off, or
 * that got 503 and whose void may be missing.
 */
const checkIdempotencyKeys = (
  { responses, cutOff, unavailable }: Observed,
  servings: ReadonlyMap<string, Recorded>,
  mayLackVoid: (serving: Recorded) => boolean,
): void => {
  const charges = new Map<string, Recorded[]>();
  for (const serving of servings.values()) {
    const { idempotency, repeat, voided } = serving;
    if (!idempotency || repeat || voided) continue;
    charges.set(idempotency.key, [...(charges.get(idempotency.key) ?? []), serving]);
  }
  for (const { requestId, idempotencyKey } of responses) {
    const digest = servings.get(requestId)?.idempotency?.key;
    if (!idempotencyKey || digest === undefined) continue;
    const charged = charges.get(digest) ?? [];
    const lacking = Math.min(unavailable.get(idempotencyKey) ?? 0, charged.filter(mayLackVoid).length);
    if (charged.length < 1 || charged.length > 1 + (cutOff.get(idempotencyKey) ?? 0) + lacking)
      throw new Error(`the Idempotency-Key of ${requestId} is charged ${charged.length} times`);
  }
};

const isClosedByOwner = ({ type, data }: RecordedEvent): boolean =>
  type === "JournalClosed" && "reason" in data && (data.reason === "shutdown" || data.reason === "idle");
