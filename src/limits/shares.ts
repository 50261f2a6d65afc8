/**
 * What a limit is counted for: each key, each client, or each client of each key. A client is the
 * network of its address: see `clientNetwork`.
 */
export type CountedFor = "key" | "key and client" | "client";

/**
 * Asks for a larger share of a limit. Calls `retry` once, later: when the share has grown, or when
 * the whole limit is known to be used up. `retry` must not throw.
 */
export type AskForMore = (retry: () => void) => void;

/** The part of a limit that this process may use. All workers of a service share the limit. */
export interface Shares {
  /** Returns this process's share of the key's limit, which is `atMost`. */
  of(key: string, atMost: number): number;
  /**
   * Call it when the share is used up. Returns undefined if the whole limit was used up a moment
   * ago.
   */
  more(key: string, atMost: number): AskForMore | undefined;
}

/**
 * Opens the shares of a limit. `used` returns how much of the limit a key uses now in this process.
 */
export type OpenShares = (limit: string, of: CountedFor, used: (key: string) => number) => Shares;

/** The shares of a process without other workers, which has the whole limits. */
export const wholeLimit: Shares = { of: (_key, atMost) => atMost, more: () => undefined };
