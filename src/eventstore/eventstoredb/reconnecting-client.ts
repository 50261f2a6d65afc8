import type { EventStoreDBClient } from "@eventstore/db-client";
import { withDeadline } from "../../async/deadline.ts";
import { retry } from "../../async/retry.ts";
import { sleep } from "../../async/sleep.ts";
import { systemTime, type Time } from "../../async/time.ts";
import { EventStoreUnavailable } from "../event-store.ts";
import { clientFor } from "./connection-string.ts";
import { requiresNewClient } from "./errors.ts";

/**
 * Replaces its client after an error, because the client does not recover from many errors by
 * itself (db-client 6.2.1).
 */
export interface ReconnectingClient {
  /**
   * Makes a call with the current client. An error that is not a response to the call replaces the
   * client, and every other call in progress on it fails too.
   * @throws {EventStoreUnavailable} if there is no response in time, or the client is closed
   * @throws the other errors of the call
   */
  call<T>(timeoutMs: number, action: (client: EventStoreDBClient) => Promise<T>): Promise<T>;
  /** The current client, for streams. Their errors must be passed to `reportError`. */
  current(): Promise<EventStoreDBClient>;
  reportError(client: EventStoreDBClient, error: unknown): void;
  close(): Promise<void>;
}

/** Bounds the connection attempts to a server that is down. */
const minLifetimeMs = 250;
const disposalTimeoutMs = 1_000;

/** @throws {TypeError} if the connection string is invalid */
export const createReconnectingClient = (url: string): ReconnectingClient => {
  let client: EventStoreDBClient | undefined = clientFor(url);
  let createdAt = performance.now();
  let replacement: Promise<EventStoreDBClient> | undefined;
  const closing = new AbortController();

  const replace = async (broken: EventStoreDBClient): Promise<EventStoreDBClient> => {
    await dispose(broken);
    const { signal } = closing;
    await sleep(createdAt + minLifetimeMs - performance.now(), { signal });
    // A file that the connection string names may be missing for a while.
    const delayAfter = (outcome: object) => ("error" in outcome ? minLifetimeMs : undefined);
    client = await retry({ signal, delayAfter }, async () => clientFor(url));
    createdAt = performance.now();
    replacement = undefined;
    return client;
  };

  const getClient = async (): Promise<EventStoreDBClient> => {
    closing.signal.throwIfAborted();
    return client ?? (await replacement) ?? (await getClient());
  };

  const reportError = (failed: EventStoreDBClient, error: unknown): void => {
    if (closing.signal.aborted || client !== failed || !requiresNewClient(error)) return;
    client = undefined;
    replacement = replace(failed);
    replacement.catch(() => {}); // `current` rejects with the error.
  };

  return {
    call: async (timeoutMs, action) => {
      let used: EventStoreDBClient | undefined;
      try {
        return await withTimeout(timeoutMs, async (signal) => {
          const current = await getClient();
          signal.throwIfAborted();
          used = current;
          return await action(current);
        });
      } catch (error) {
        if (used) reportError(used, error);
        throw error;
      }
    },
    current: getClient,
    reportError,
    close: async () => {
      if (closing.signal.aborted) return;
      closing.abort(closedError());
      if (client) await dispose(client);
      await replacement?.catch(() => {});
    },
  };
};

/**
 * Timers wait for `setImmediate`, so that a response that arrived while the process was busy is
 * read first.
 */
const timeAfterReads: Time = {
  ...systemTime,
  after: (ms, run) => systemTime.after(ms, () => setImmediate(run)),
};

const withTimeout = <T>(ms: number, task: (signal: AbortSignal) => Promise<T>): Promise<T> =>
  withDeadline({ time: timeAfterReads, ms, onTimeout: noResponse }, task);

const noResponse = () => new EventStoreUnavailable("the event store did not respond in time");

/**
 * Ends every call in progress on the client. `dispose` alone leaves the channel open, and an append
 * that still waits for the server's features would be sent on it later.
 */
const dispose = async (client: EventStoreDBClient): Promise<void> => {
  const { getChannel } = client as unknown as { getChannel(): Promise<{ close(): void }> };
  getChannel().then(
    (channel) => channel.close(),
    () => {},
  );
  // A new client must not append before the old one's stream has ended: the end of that stream
  // rejects the appends of both clients (db-client 6.2.1).
  await withDeadline({ ms: disposalTimeoutMs, onTimeout: noResponse }, () => client.dispose()).catch(
    () => {},
  );
};

const closedError = (): EventStoreUnavailable => new EventStoreUnavailable("the event store is closed");

interface SharedClient {
  readonly client: ReconnectingClient;
  users: number;
}

const sharedClients = new Map<string, SharedClient>();

/**
 * Returns the process's only client for appends to a server. Its last user closes it. The client
 * package keeps unanswered appends in one place for the whole process (db-client 6.2.1,
 * `promiseBank`): a second client's errors would reject the first one's appends, whose responses
 * would then be uncaught exceptions.
 */
export const shareAppendClient = (url: string): Pick<ReconnectingClient, "call" | "close"> => {
  const shared = sharedClients.get(url) ?? { client: createReconnectingClient(url), users: 0 };
  sharedClients.set(url, shared);
  shared.users += 1;
  let isClosed = false;
  return {
    call: shared.client.call,
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      shared.users -= 1;
      if (shared.users > 0) return;
      sharedClients.delete(url);
      await shared.client.close();
    },
  };
};
