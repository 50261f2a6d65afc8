import { keyStream } from "../../domain/accounts/key.ts";
import { NotFound } from "../../domain/errors.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { throwUnavailable } from "../../eventstore/store-error.ts";
import { type AuditEntry, auditEntries } from "../../ledger/audit/audit-entries.ts";

interface KeyHistoryRequest {
  readonly apiKey: string;
  /** Default: `ascending`, the earliest event first. */
  readonly order?: "ascending" | "descending";
  /** Selects only revisions of the key's stream that follow this one in the order. */
  readonly after?: number | undefined;
  /** Default: all. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/**
 * Reads what happened to a key, without its usage: its issuance, plans, suspensions and secrets, as
 * the audit shows them.
 * @throws {NotFound}
 * @throws {Unavailable}
 */
export type ReadKeyHistory = (request: KeyHistoryRequest) => Promise<readonly AuditEntry[]>;

export const createKeyHistory =
  ({ store }: { readonly store: Pick<EventStore, "readStream"> }): ReadKeyHistory =>
  async ({ apiKey, order = "ascending", after, ...options }) => {
    const isAscending = order === "ascending";
    if (!isAscending && after === 0) return [];
    const from = after === undefined ? {} : { fromInclusive: isAscending ? after + 1 : after - 1 };
    const direction = isAscending ? "forwards" : "backwards";
    const entries: AuditEntry[] = [];
    try {
      for await (const event of store.readStream(keyStream(apiKey), { direction, ...from, ...options })) {
        entries.push(...auditEntries(event));
      }
    } catch (error) {
      return throwUnavailable(error);
    }
    if (entries.length === 0 && after === undefined) throw new NotFound("There is no such key.");
    return entries;
  };
