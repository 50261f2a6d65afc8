/** For whom a limit counts. A client is the network of its address, see `clientNetwork`. */
export type CountedFor = "key" | "key and client" | "client";

/**
 * Asks for more of a limit. Calls `retry` once, later: if there is more of it, or if the limit is
 * used up. `retry` must not throw.
 */
export type AskForMore = (retry: () => void) => void;

/** What this process may use of a limit that all workers of a service hold together. */
export interface Shares {
  /** How many of `atMost` this process may count for the key. */
  of(key: string, atMost: number): number;
  /**
   * To be called when the share is used up. Undefined if the whole limit was used up a moment ago.
   */
  more(key: string, atMost: number): AskForMore | undefined;
}

/** Opens a limit. `used`: what this process counts for a key now. */
export type OpenShares = (limit: string, of: CountedFor, used: (key: string) => number) => Shares;

/** A process without other workers has all of each limit. */
export const wholeLimit: Shares = { of: (_key, atMost) => atMost, more: () => undefined };
