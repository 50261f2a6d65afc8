import { setTimeout as delay } from "node:timers/promises";
import { createAppendBudget } from "../append-budget.ts";
import { type EventStore, EventStoreUnavailable } from "../event-store.ts";
import { validateRetention, validateStreamName } from "../event-validation.ts";
import { uuidv7 } from "../uuid.ts";
import { createAppendProbe, probeStream } from "./append-probe.ts";
import { openAppender, toAppendable } from "./appender.ts";
import { certificateProblem } from "./certificate-check.ts";
import { CertificateRefused, CredentialsRefused } from "./errors.ts";
import { openLogReader } from "./log-reader.ts";
import { createReconnectingClient } from "./reconnecting-client.ts";
import { setRetention } from "./retention.ts";
import { sharedAppendingClient } from "./shared-client.ts";
import { openSubscriptions } from "./subscription.ts";

export interface EventStoreDBOptions {
  /** EventStoreDB's connection string: `esdb://…` or `esdb+discover://…`. */
  readonly url: string;
  /** Refuses to append. Default false. */
  readonly readOnly?: boolean;
  /**
   * How long an append waits for each answer; after that its outcome is unknown and the client is replaced. Longer than the
   * 2,000 after which a server says by itself that it does not know. Default 2,500.
   */
  readonly appendTimeoutMs?: number;
  /** How long a read waits for the next of its events. Default 5,000. */
  readonly readTimeoutMs?: number;
  /** How long to wait at first for a server that can be reached. Default 10,000. */
  readonly connectTimeoutMs?: number;
}

/**
 * Opens a log that an EventStoreDB (KurrentDB) server or cluster keeps, from 23.10 on.
 * @throws {TypeError} when the connection string cannot be used; nothing of it is repeated
 * @throws {EventStoreUnavailable} when no server can be reached, or it refuses the credentials
 */
export const openEventStoreDB = async (options: EventStoreDBOptions): Promise<EventStore> => {
  const { url, readOnly = false, appendTimeoutMs = 2_500, readTimeoutMs = 5_000 } = options;
  const reading = createReconnectingClient(url);
  const appending = sharedAppendingClient(url);
  const reader = openLogReader(reading, readTimeoutMs);
  const appender = openAppender(appending, reader, appendTimeoutMs);
  const subscriptions = openSubscriptions(reading, reader);
  const waiting = createAppendBudget();
  const underWay = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  const mayWrite = (stream: string): void => {
    if (readOnly) throw new TypeError("the event store was opened for reading");
    validateStreamName(stream);
    if (stream.startsWith("$")) throw new TypeError("streams whose names begin with $ are the server's own");
  };

  const mustBeOpen = (): void => {
    if (closed !== undefined) throw new EventStoreUnavailable("the event store is closed");
  };

  const finished = <T>(write: Promise<T>): Promise<T> => {
    underWay.add(write);
    const done = () => underWay.delete(write);
    write.then(done, done);
    return write;
  };

  let isProbeTrimmed = false;
  const probe = createAppendProbe(async () => {
    const event = { id: uuidv7(Date.now()), type: "AppendProbed", data: {}, metadata: { actor: "system" } };
    await finished(appender.append(probeStream, toAppendable([event]).events, "any"));
    if (isProbeTrimmed) return;
    await setRetention(appender, reader, probeStream, { maxCount: 1 });
    isProbeTrimmed = true;
  });

  /** Answers when the store can be read. */
  const contact = async (): Promise<void> => {
    mustBeOpen();
    await diagnosed(reader.head());
  };

  const ping = async (): Promise<void> => {
    if (readOnly) return await contact();
    mustBeOpen();
    await diagnosed(probe.check());
  };

  /** Names a refused certificate as the cause. */
  const diagnosed = async (attempt: Promise<unknown>): Promise<void> => {
    try {
      await attempt;
    } catch (error) {
      if (!(error instanceof EventStoreUnavailable) || error instanceof CredentialsRefused) throw error;
      const problem = await certificateProblem(url);
      throw problem === undefined ? error : new CertificateRefused(problem, { cause: error });
    }
  };

  const close = async (): Promise<void> => {
    subscriptions.close();
    await Promise.allSettled(underWay);
    await Promise.all([appending.close(), reading.close()]);
  };

  const store: EventStore = {
    async append(stream, events, expected) {
      mayWrite(stream);
      const { events: appendable, bytes } = toAppendable(events);
      mustBeOpen();
      const leave = waiting.enter(events.length, bytes);
      try {
        return await finished(probe.observe(appender.append(stream, appendable, expected)));
      } finally {
        leave();
      }
    },
    readStream: (stream, readOptions) => reader.stream(stream, readOptions),
    async eventAt(position) {
      const event = await reader.at(position);
      if (!event) return undefined;
      // The log shows what retention hides from its stream, until the server's next scavenge.
      for await (const { id } of reader.stream(event.stream, { from: event.revision, limit: 1 })) {
        if (id === event.id) return event;
      }
      return undefined;
    },
    subscribe: (subscribeOptions = {}) => subscriptions.subscribe(subscribeOptions),
    async setRetention(stream, retention) {
      mayWrite(stream);
      validateRetention(retention);
      mustBeOpen();
      await finished(setRetention(appender, reader, stream, retention));
    },
    ping,
    close: () => {
      closed ??= close();
      return closed;
    },
  };

  try {
    await firstContact(contact, options.connectTimeoutMs ?? 10_000);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
};

const knockEveryMs = 250;

/** Services and their databases are often started together. */
const firstContact = async (contact: () => Promise<void>, patienceMs: number): Promise<void> => {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      return await contact();
    } catch (error) {
      if (
        error instanceof CredentialsRefused ||
        error instanceof CertificateRefused ||
        performance.now() > end
      )
        throw error;
      await delay(knockEveryMs);
    }
  }
};
