/** How long a socket may be of no use. */
export interface SocketTimeouts {
  /** Without a message, and with nothing to send. */
  readonly idleMs: number;
  /** Without a sign that the reader takes what waits for it, or that there is a reader at all. */
  readonly stallMs: number;
}

export type LivenessState = "alive" | "idle" | "stalled" | "gone";

/** Looks on at one socket. `now`: milliseconds that never go back. */
export interface Liveness {
  /** A message came. */
  messageReceived(): void;
  /** Anything came, if only the answer to a ping. */
  activityReceived(): void;
  /** The network took something of what waits, or something began to wait. */
  dataDrained(): void;
  state(busy: { readonly speaking: boolean; readonly sending: boolean }): LivenessState;
}

export const createLiveness = ({ idleMs, stallMs }: SocketTimeouts, now: () => number): Liveness => {
  const began = now();
  let usedAt = began;
  let heardAt = began;
  let takenAt = began;

  return {
    messageReceived: () => {
      usedAt = now();
    },
    activityReceived: () => {
      heardAt = now();
    },
    dataDrained: () => {
      takenAt = now();
    },
    state: ({ speaking, sending }) => {
      const time = now();
      if (speaking || sending) usedAt = time;
      if (sending) return time - takenAt > stallMs ? "stalled" : "alive";
      // What was taken may lie in the network's own buffers, before a ping that it has not come to yet.
      if (time - Math.max(heardAt, takenAt) > stallMs) return "gone";
      return time - usedAt > idleMs ? "idle" : "alive";
    },
  };
};
