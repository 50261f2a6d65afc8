import { LRUCache } from "lru-cache";
import type { EngineCode } from "../../domain/synthesis/speech.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { ProviderEvent } from "../../engines/resilience/with-event-reports.ts";

/**
 * The requests of this instance to a provider, with one website's credentials, since it started.
 */
export interface ProviderActivity {
  readonly engine: EngineCode;
  /** Absent for the operator's own server. */
  readonly websiteId?: string;
  readonly circuit: "closed" | "open";
  readonly requests: number;
  readonly retries: number;
  readonly errors: number;
  /**
   * Milliseconds from sending a request to the headers of its response. Absent before the first
   * response.
   */
  readonly latency?: { readonly last: number; readonly mean: number; readonly longest: number };
  readonly lastError?: { readonly at: string; readonly what: string };
  /** The last changes of the circuit, the earliest first. Times are ISO 8601, UTC. */
  readonly changes: readonly { readonly at: string; readonly circuit: "closed" | "open" }[];
}

export interface ProviderActivities {
  readonly record: (engine: EngineCode, event: ProviderEvent, websiteId?: string) => void;
  list(): readonly ProviderActivity[];
}

/** These numbers limit the memory. */
const maxAccounts = 1_000;
const maxChanges = 100;

interface Account {
  readonly engine: EngineCode;
  readonly websiteId: string | undefined;
  circuit: "closed" | "open";
  requests: number;
  retries: number;
  errors: number;
  responses: { count: number; total: number; last: number; longest: number };
  lastError: ProviderActivity["lastError"];
  changes: ProviderActivity["changes"];
}

export const createProviderActivities = ({
  clock,
}: {
  readonly clock: () => EpochMs;
}): ProviderActivities => {
  const accounts = new LRUCache<string, Account>({ max: maxAccounts });
  const now = (): string => new Date(clock()).toISOString();

  const accountOf = (engine: EngineCode, websiteId: string | undefined): Account => {
    const name = `${engine} ${websiteId ?? ""}`;
    const account = accounts.get(name) ?? newAccount(engine, websiteId);
    accounts.set(name, account);
    return account;
  };

  return {
    record: (engine, event, websiteId) => {
      const account = accountOf(engine, websiteId);
      if (event.what === "requested") account.requests += 1;
      else if (event.what === "retried") account.retries += 1;
      else if (event.what === "answered") addResponse(account, event.ms);
      else if (event.what === "circuit") {
        account.circuit = event.state;
        account.changes = [...account.changes, { at: now(), circuit: event.state }].slice(-maxChanges);
      } else {
        account.errors += 1;
        account.lastError = { at: now(), what: errorText(event) };
      }
    },
    list: () => [...accounts.values()].map(describe),
  };
};

const errorText = (event: Extract<ProviderEvent, { what: "refused" | "failed" }>): string =>
  event.what === "refused" ? `status ${event.status}` : `failed: ${event.stage}`;

const addResponse = ({ responses }: Account, ms: number): void => {
  responses.count += 1;
  responses.total += ms;
  responses.last = ms;
  responses.longest = Math.max(responses.longest, ms);
};

const newAccount = (engine: EngineCode, websiteId: string | undefined): Account => ({
  engine,
  websiteId,
  circuit: "closed",
  requests: 0,
  retries: 0,
  errors: 0,
  responses: { count: 0, total: 0, last: 0, longest: 0 },
  lastError: undefined,
  changes: [],
});

const describe = ({ engine, websiteId, responses, lastError, ...counts }: Account): ProviderActivity => ({
  engine,
  ...(websiteId !== undefined && { websiteId }),
  ...counts,
  ...(responses.count > 0 && {
    latency: {
      last: Math.round(responses.last),
      mean: Math.round(responses.total / responses.count),
      longest: Math.round(responses.longest),
    },
  }),
  ...(lastError && { lastError }),
});
