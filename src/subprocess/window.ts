import { windowBytes } from "./protocol.ts";

/** Holds a sender back while too much of what it sent is not yet taken. */
export interface Window {
  /** Answers when more may be sent. */
  room(): Promise<void>;
  sent(bytes: number): void;
  taken(bytes: number): void;
  /** From now on there is always room: whoever waits looks again at whether the job still stands. */
  open(): void;
}

export const createWindow = (): Window => {
  let left = windowBytes;
  let wake: () => void = () => undefined;
  const release = (bytes: number) => {
    left += bytes;
    wake();
  };
  return {
    room: async () => {
      while (left <= 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    sent: (bytes) => {
      left -= bytes;
    },
    taken: release,
    open: () => release(Number.POSITIVE_INFINITY),
  };
};
