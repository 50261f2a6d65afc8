/** How long a socket may be of no use. */
export interface Patience {
  /** Without a message, and with nothing to send. */
  readonly idleMs: number;
  /** Without a sign that the reader takes what waits for it, or that there is a reader at all. */
  readonly stallMs: number;
}

export type Verdict = "alive" | "idle" | "stalled" | "gone";

/** Looks on at one socket. `now`: milliseconds that never go back. */
export interface Liveness {
  /** A message came. */
  asked(): void;
  /** Anything came, if only the answer to a ping. */
  heard(): void;
  /** The network took something of what waits, or something began to wait. */
  taken(): void;
  verdict(busy: { readonly speaking: boolean; readonly sending: boolean }): Verdict;
}

export const createLiveness = ({ idleMs, stallMs }: Patience, now: () => number): Liveness => {
  const began = now();
  let usedAt = began;
  let heardAt = began;
  let takenAt = began;

  return {
    asked: () => {
      usedAt = now();
    },
    heard: () => {
      heardAt = now();
    },
    taken: () => {
      takenAt = now();
    },
    verdict: ({ speaking, sending }) => {
      const time = now();
      if (speaking || sending) usedAt = time;
      if (sending) return time - takenAt > stallMs ? "stalled" : "alive";
      // What was taken may lie in the network's own buffers, before a ping that it has not come to yet.
      if (time - Math.max(heardAt, takenAt) > stallMs) return "gone";
      return time - usedAt > idleMs ? "idle" : "alive";
    },
  };
};
