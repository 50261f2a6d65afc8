import { keyStream } from "../../domain/accounts/key.ts";
import { NotFound } from "../../domain/errors.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { throwUnavailable } from "../store-error.ts";
import { type AuditEntry, auditEntries } from "../usage/audit-entries.ts";

export interface KeyHistoryRequest {
  readonly apiKey: string;
  /** Only later revisions of the key's stream. */
  readonly after?: number | undefined;
  /** Default: all. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/**
 * What happened to a key, the earliest first, without its usage: its issuance, plans, suspensions and secrets, as the audit shows
 * them.
 * @throws {NotFound} @throws {Unavailable}
 */
export type ReadKeyHistory = (request: KeyHistoryRequest) => Promise<readonly AuditEntry[]>;

export const createKeyHistory =
  ({ store }: { readonly store: Pick<EventStore, "readStream"> }): ReadKeyHistory =>
  async ({ apiKey, after = -1, ...options }) => {
    const entries: AuditEntry[] = [];
    try {
      for await (const event of store.readStream(keyStream(apiKey), { from: after + 1, ...options })) {
        entries.push(...auditEntries(event));
      }
    } catch (error) {
      return throwUnavailable(error);
    }
    if (entries.length === 0 && after < 0) throw new NotFound("There is no such key.");
    return entries;
  };
