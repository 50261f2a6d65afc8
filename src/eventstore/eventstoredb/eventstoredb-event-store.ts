import { type RetryOptions, retry } from "../../async/retry.ts";
import { createAppendBudget } from "../append-budget.ts";
import { type EventStore, EventStoreUnavailable, type RecordedEvent, readEvent } from "../event-store.ts";
import { validateRetention, validateWrite } from "../event-validation.ts";
import { probeStream } from "../stream-prefix.ts";
import { createSubscriptions } from "../subscriptions.ts";
import { uuidv7 } from "../uuid.ts";
import { createAppendProbe } from "./append-probe.ts";
import { type Append, createAppend } from "./appender.ts";
import { explainConnection } from "./connection-problem.ts";
import { hasTls } from "./connection-string.ts";
import {
  CertificateRefused,
  CredentialsRefused,
  isStreamNotFound,
  toUnavailable,
  WrongTls,
} from "./errors.ts";
import { toClientEvents } from "./event-mapping.ts";
import { createLogReader, type LogReader } from "./log-reader.ts";
import {
  createReconnectingClient,
  type ReconnectingClient,
  shareAppendClient,
} from "./reconnecting-client.ts";
import { setRetention } from "./retention.ts";
import { createFollow } from "./subscription.ts";

interface EventStoreDBOptions {
  /** EventStoreDB's connection string: `esdb://…` or `esdb+discover://…`. */
  readonly url: string;
  /** Refuses appends. Default: false. */
  readonly readOnly?: boolean;
  /**
   * The longest wait for a response to an append. After that the append's outcome is unknown and
   * the client is replaced. The wait must exceed 2,000: after 2 s the server reports that it does
   * not know the outcome. Default: 2,500.
   */
  readonly appendTimeoutMs?: number;
  /** The longest wait for the next events of a read. Default: 5,000. */
  readonly readTimeoutMs?: number;
  /** The time for which the first connection is retried. Default: 10,000. */
  readonly connectTimeoutMs?: number;
}

/**
 * Connects to an EventStoreDB (KurrentDB) server or cluster, version 23.10 or later.
 * @throws {TypeError} if the connection string is invalid; the message contains nothing of it
 * @throws {EventStoreUnavailable} if no server can be reached, or it refuses the credentials
 */
export const openEventStoreDB = async ({
  url,
  readOnly = false,
  appendTimeoutMs = 2_500,
  readTimeoutMs = 5_000,
  connectTimeoutMs = 10_000,
}: EventStoreDBOptions): Promise<EventStore> => {
  const readClient = createReconnectingClient(url);
  const appendClient = shareAppendClient(url);
  const reader = createLogReader(readClient, readTimeoutMs);
  const append = createAppend(appendClient, reader, appendTimeoutMs);
  const subscriptions = createSubscriptions(createFollow(readClient, reader));
  const withinBudget = createAppendBudget();
  const writes = createWrites();
  const probe = createAppendProbe(createProbeAppend(append, reader));

  let closed: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    subscriptions.close();
    await writes.close();
    await Promise.all([appendClient.close(), readClient.close()]);
  };
  const close = (): Promise<void> => {
    closed ??= closeAll();
    return closed;
  };

  const connect = async (): Promise<void> => {
    await explainConnection(url, reader.lastPosition());
  };
  // A certificate can expire while the service runs. Whether the server uses TLS is known.
  const checkAppends = () => (hasTls(url) ? explainConnection(url, probe.check()) : probe.check());
  try {
    await retryConnect(connect, connectTimeoutMs);
  } catch (error) {
    await close();
    throw error;
  }

  return {
    async append(stream, events, expected) {
      validateServerWrite(stream, readOnly);
      const { events: clientEvents, bytes } = toClientEvents(events);
      return await writes.run(() =>
        withinBudget(events.length, bytes, () => probe.observe(append(stream, clientEvents, expected))),
      );
    },
    readStream: reader.readStream,
    eventAt: (position) => readVisibleEvent(reader, position),
    subscribe: subscriptions.subscribe,
    async setRetention(stream, retention) {
      validateServerWrite(stream, readOnly);
      validateRetention(retention);
      await writes.run(() => setRetention(append, reader, stream, retention));
    },
    async deleteStream(stream) {
      validateServerWrite(stream, readOnly);
      await writes.run(() => deleteStream(appendClient, stream, appendTimeoutMs));
    },
    // The server checks its files itself.
    checkIntegrity: async () => {},
    ping: () => (readOnly ? connect() : writes.run(checkAppends)),
    close,
  };
};

/** A soft delete. After a hard one, the stream could never be written again. */
const deleteStream = async (
  client: Pick<ReconnectingClient, "call">,
  stream: string,
  timeoutMs: number,
): Promise<void> => {
  try {
    await client.call(timeoutMs, (current) => current.deleteStream(stream));
  } catch (error) {
    if (!isStreamNotFound(error)) throw toUnavailable(error);
  }
};

/** @throws {TypeError} */
const validateServerWrite = (stream: string, readOnly: boolean): void => {
  validateWrite(stream, readOnly);
  if (stream.startsWith("$"))
    throw new TypeError("stream names that begin with $ are reserved for the server");
};

/** Runs writes, and waits at the end for those in progress. */
const createWrites = () => {
  const inProgress = new Set<Promise<unknown>>();
  let isClosed = false;
  return {
    /** @throws {EventStoreUnavailable} once it is closed */
    run: async <T>(start: () => Promise<T>): Promise<T> => {
      if (isClosed) throw new EventStoreUnavailable("the event store is closed");
      const write = start();
      inProgress.add(write);
      const remove = () => inProgress.delete(write);
      write.then(remove, remove);
      return await write;
    },
    /** Resolves when every write has ended. */
    close: async (): Promise<void> => {
      isClosed = true;
      await Promise.allSettled(inProgress);
    },
  };
};

/**
 * Until the server's next scavenge, $all shows events that retention hides from reads of their
 * stream. So the stream is read, too.
 */
const readVisibleEvent = async (reader: LogReader, position: number): Promise<RecordedEvent | undefined> => {
  const event = await reader.eventAt(position);
  if (!event) return undefined;
  const visible = await readEvent(reader, event.stream, { fromInclusive: event.revision });
  return visible?.id === event.id ? event : undefined;
};

const createProbeAppend = (append: Append, reader: LogReader): (() => Promise<void>) => {
  let hasRetention = false;
  return async () => {
    const event = { id: uuidv7(Date.now()), type: "AppendProbed", data: {}, metadata: { actor: "system" } };
    await append(probeStream, toClientEvents([event]).events, "any");
    if (hasRetention) return;
    await setRetention(append, reader, probeStream, { maxCount: 1 });
    hasRetention = true;
  };
};

const connectDelayMs = 250;

/** Retries to connect, because a service and its database are often started together. */
const retryConnect = (connect: () => Promise<void>, timeoutMs: number): Promise<void> => {
  const deadline = performance.now() + timeoutMs;
  const isPermanent = (error: unknown): boolean =>
    [CredentialsRefused, CertificateRefused, WrongTls].some((kind) => error instanceof kind);
  const delayAfter: RetryOptions<void>["delayAfter"] = (outcome) =>
    "error" in outcome && !isPermanent(outcome.error) && performance.now() <= deadline
      ? connectDelayMs
      : undefined;
  return retry({ delayAfter }, connect);
};
