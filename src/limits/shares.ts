/** For whom a limit counts. A client is the network of its address, see `clientNetwork`. */
export type CountedFor = "key" | "key and client" | "client";

/**
 * Asks for more of a limit. It later calls `retry` once: when there is more of the limit, or when
 * it is known that the limit is used up. `retry` must not throw.
 */
export type AskForMore = (retry: () => void) => void;

/** The part of a limit that this process may use. All workers of a service share the limit. */
export interface Shares {
  /** Returns how many of `atMost` this process may count for the key. */
  of(key: string, atMost: number): number;
  /**
   * Call it when the share is used up. Returns undefined if the whole limit was used up a moment
   * ago.
   */
  more(key: string, atMost: number): AskForMore | undefined;
}

/** Opens the shares of a limit. `used`: returns what this process counts for a key now. */
export type OpenShares = (limit: string, of: CountedFor, used: (key: string) => number) => Shares;

/** The shares of a process without other workers, which has the whole limits. */
export const wholeLimit: Shares = { of: (_key, atMost) => atMost, more: () => undefined };
