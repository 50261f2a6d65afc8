/** What this process may use of a limit that all workers of a service hold together. */
export interface Shares {
  /** How many of `atMost` this process may count for the key. */
  of(key: string, atMost: number): number;
  /**
   * Asks for a larger share, when it is used up: try again after the returned function's promise.
   * Undefined if the whole limit was used up a moment ago.
   */
  ask(key: string, atMost: number, wanted?: number): (() => Promise<void>) | undefined;
}

/** Opens a limit. `used`: what this process counts for a key now. */
export type OpenShares = (limit: string, used: (key: string) => number) => Shares;

/** A process without other workers has all of each limit. */
export const wholeLimit: Shares = { of: (_key, atMost) => atMost, ask: () => undefined };
