import type { Time } from "../../async/time.ts";

export interface SocketTimeouts {
  /** The time for which a client may send no message while there is nothing to send to it. */
  readonly idleMs: number;
  /** The time for which there may be no sign that the client exists and reads. */
  readonly stallMs: number;
}

type LivenessState = "alive" | "idle" | "stalled" | "gone";

export type Liveness = ReturnType<typeof createLiveness>;

/** Tracks the activity of one socket. */
export const createLiveness = ({ idleMs, stallMs }: SocketTimeouts, time: Pick<Time, "now">) => {
  let usedAt = time.now();
  let activeAt = usedAt;
  let drainedAt = usedAt;

  return {
    messageReceived: (): void => {
      usedAt = time.now();
    },
    /** Called when a message, ping or pong has arrived. */
    activityReceived: (): void => {
      activeAt = time.now();
    },
    /**
     * Called when the network has accepted buffered data, or when data is put into the empty
     * outbox.
     */
    dataDrained: (): void => {
      drainedAt = time.now();
    },
    state: ({
      synthesizing,
      sending,
    }: {
      readonly synthesizing: boolean;
      readonly sending: boolean;
    }): LivenessState => {
      const now = time.now();
      if (synthesizing || sending) usedAt = now;
      if (sending) return now - drainedAt > stallMs ? "stalled" : "alive";
      // Accepted data may still lie in the network's buffers, ahead of a ping that the client has
      // not received yet.
      if (now - Math.max(activeAt, drainedAt) > stallMs) return "gone";
      return now - usedAt > idleMs ? "idle" : "alive";
    },
  };
};
