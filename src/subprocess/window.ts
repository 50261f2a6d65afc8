import { windowBytes } from "./protocol.ts";

/** Flow control: delays a sender while too many bytes are unacknowledged. */
export interface Window {
  /** Resolves when more may be sent. */
  ready(): Promise<void>;
  sent(bytes: number): void;
  acknowledged(bytes: number): void;
  /** Removes the limit: waiting senders continue and check whether the job still runs. */
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
