import { windowBytes } from "./protocol.ts";

export type Window = ReturnType<typeof createWindow>;

const partBytes = 64 * 1024;

/**
 * Divides bytes into parts of one message each: a large message would delay those of other jobs.
 */
export function* inParts(bytes: Buffer): Generator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes);
}

/** Flow control: delays a sender while too many bytes are unacknowledged. */
export const createWindow = () => {
  let left = windowBytes;
  let wake: () => void = () => undefined;
  const release = (bytes: number) => {
    left += bytes;
    wake();
  };
  return {
    /** Resolves when more may be sent. */
    ready: async (): Promise<void> => {
      while (left <= 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    sent: (bytes: number): void => {
      left -= bytes;
    },
    acknowledged: release,
    /** Removes the limit: waiting senders continue and check whether the job still runs. */
    open: (): void => release(Number.POSITIVE_INFINITY),
  };
};
