import { randomBytes } from "node:crypto";
import { type Credentials, synthesizeByPost } from "./client.ts";

/**
 * Keeps distinct texts of 2,000 digits in flight with one key until it is stopped. The service must allow that length. On a busy
 * machine longer ones may exceed the time limit of a text, which is a 400.
 */
export interface DigitFlood {
  /** The number of responses by status. */
  readonly responses: ReadonlyMap<number, number>;
  stop(): Promise<void>;
}

/** Pause after a response, so that refusals do not cause a busy loop. */
const pauseMs = 500;

export const startDigitFlood = (
  url: string,
  website: Credentials,
  { inFlight, voice }: { readonly inFlight: number; readonly voice: string },
): DigitFlood => {
  const responses = new Map<number, number>();
  const stopping = new AbortController();
  const { signal } = stopping;

  const keepAsking = async (): Promise<void> => {
    while (!signal.aborted) {
      const text = Array.from(randomBytes(2000), (byte) => byte % 10).join("");
      const { status, body } = await synthesizeByPost(url, website, { voice, text }, { signal });
      responses.set(status, (responses.get(status) ?? 0) + 1);
      await body?.cancel();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  const asking = Array.from({ length: inFlight }, () =>
    keepAsking().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    }),
  );
  return {
    responses,
    stop: async () => {
      stopping.abort();
      await Promise.all(asking);
    },
  };
};
