import { setTimeout as delay } from "node:timers/promises";
import type { EventStoreDBClient } from "@eventstore/db-client";
import { EventStoreUnavailable } from "../event-store.ts";
import { clientFor } from "./connection-string.ts";
import { requiresNewClient } from "./errors.ts";

/** A client that is replaced when it is in trouble, because many troubles it never leaves by itself (6.2.1). */
export interface ReconnectingClient {
  /**
   * Runs a call on the client of the moment. What is no answer to the call replaces the client, and everything else that
   * was under way on it fails too.
   * @throws {EventStoreUnavailable} when there is no answer in time, or the client was closed
   * @throws what the call threw, otherwise
   */
  call<T>(timeoutMs: number, action: (client: EventStoreDBClient) => Promise<T>): Promise<T>;
  /** The client of the moment, for streams; whoever has one tells of its trouble by `reportError`. */
  current(): Promise<EventStoreDBClient>;
  reportError(client: EventStoreDBClient, error: unknown): void;
  close(): Promise<void>;
}

/** A server that is down is not knocked at more often. */
const leastLifeMs = 250;
const disposalMs = 1_000;

export const createReconnectingClient = (url: string): ReconnectingClient => {
  let client: EventStoreDBClient | undefined = clientFor(url);
  let made = performance.now();
  let replacing: Promise<EventStoreDBClient> | undefined;
  const closing = new AbortController();

  const replace = async (broken: EventStoreDBClient): Promise<EventStoreDBClient> => {
    await discard(broken);
    const rest = Math.max(0, leastLifeMs - (performance.now() - made));
    await delay(rest, undefined, { signal: closing.signal }).catch(() => {});
    client = await opened();
    made = performance.now();
    replacing = undefined;
    return client;
  };

  /** What a connection string names may be missing for a while: a file with the authority's certificate. */
  const opened = async (): Promise<EventStoreDBClient> => {
    for (;;) {
      if (closing.signal.aborted) throw isClosed();
      try {
        return clientFor(url);
      } catch {
        await delay(leastLifeMs, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  };

  const current = async (): Promise<EventStoreDBClient> => {
    if (closing.signal.aborted) throw isClosed();
    return client ?? (await replacing) ?? (await current());
  };

  const reportError = (broken: EventStoreDBClient, error: unknown): void => {
    if (closing.signal.aborted || client !== broken || !requiresNewClient(error)) return;
    client = undefined;
    replacing = replace(broken);
    replacing.catch(() => {}); // whoever waits for it is told
  };

  const call = async <T>(
    timeoutMs: number,
    action: (client: EventStoreDBClient) => Promise<T>,
  ): Promise<T> => {
    const { promise: late, reject } = Promise.withResolvers<never>();
    let givenUp = false;
    const giveUp = (): void => {
      givenUp = true;
      reject(new EventStoreUnavailable("the event store gave no answer in time"));
    };
    // Where this process was too busy to look, the answer may be there: it is read before the turn's end.
    const timer = setTimeout(() => setImmediate(giveUp), timeoutMs);
    let used: EventStoreDBClient | undefined;
    const answer = async (): Promise<T> => {
      const client = await current();
      if (givenUp) return await late; // nothing is begun that nobody waits for any more
      used = client;
      return await action(client);
    };
    try {
      return await Promise.race([answer(), late]);
    } catch (error) {
      if (used) reportError(used, error);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    call,
    current,
    reportError,
    close: async () => {
      if (closing.signal.aborted) return;
      closing.abort();
      if (client) await discard(client);
      await replacing?.catch(() => {});
    },
  };
};

/**
 * Ends all that is under way on the client, for good: `dispose` leaves its channel open, and an append that still waits
 * for the server's features would go out on it at last.
 */
const discard = async (client: EventStoreDBClient): Promise<void> => {
  const { getChannel } = client as unknown as { getChannel(): Promise<{ close(): void }> };
  getChannel().then(
    (channel) => channel.close(),
    () => {},
  );
  // The new client may append only when the old one's stream has ended: its end rejects whatever waits (facts of 6.2.1).
  const disposed = new AbortController();
  const patience = delay(disposalMs, undefined, { signal: disposed.signal }).catch(() => {});
  await Promise.race([client.dispose(), patience]);
  disposed.abort();
};

const isClosed = (): EventStoreUnavailable => new EventStoreUnavailable("the event store is closed");
