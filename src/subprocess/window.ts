import { windowBytes } from "./protocol.ts";

/** Holds a sender back while too much of what it sent is not yet taken. */
export interface Window {
  /** Answers when more may be sent. */
  ready(): Promise<void>;
  sent(bytes: number): void;
  acknowledged(bytes: number): void;
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
    ready: async () => {
      while (left <= 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    sent: (bytes) => {
      left -= bytes;
    },
    acknowledged: release,
    open: () => release(Number.POSITIVE_INFINITY),
  };
};
