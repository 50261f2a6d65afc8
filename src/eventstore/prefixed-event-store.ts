import {
  type EventBatch,
  type EventStore,
  type RecordedEvent,
  WrongExpectedRevision,
} from "./event-store.ts";
import { validateStreamName } from "./event-validation.ts";
import { streamNames } from "./stream-prefix.ts";
import { mapBatches } from "./subscriptions.ts";

/**
 * One installation's part of a log that several share. Its streams are stored as
 * `{prefix}.{stream}`; callers see and use the names without the prefix. No method shows an event
 * of another installation, with or without a prefix. Positions are those of the whole log.
 */
export const prefixedEventStore = (store: EventStore, prefix: string): EventStore => {
  const { beginning, toStored, fromStored } = streamNames(prefix);

  const ownEvent = (event: RecordedEvent): RecordedEvent | undefined => {
    const stream = fromStored(event.stream);
    if (stream === undefined) return undefined;
    return stream === event.stream ? event : { ...event, stream };
  };
  const ownBatch = (batch: EventBatch): EventBatch => ({
    ...batch,
    events: batch.events.map(ownEvent).filter((event) => event !== undefined),
  });

  /** @throws {TypeError} for a name that this installation may not use */
  const validName = (stream: string): string => {
    validateStreamName(stream);
    const stored = toStored(stream);
    if (fromStored(stored) !== undefined) return stored;
    throw new TypeError(
      `the stream name ${stream} is reserved: it is that of probes, or begins with a prefix and a dot`,
    );
  };

  return {
    async append(stream, events, expected) {
      try {
        return await store.append(validName(stream), events, expected);
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
        throw new WrongExpectedRevision(stream, error.expected, error.actual);
      }
    },
    async *readStream(stream, options) {
      for await (const event of store.readStream(toStored(stream), options)) {
        const own = ownEvent(event);
        if (own) yield own;
      }
    },
    async eventAt(position) {
      const event = await store.eventAt(position);
      return event && ownEvent(event);
    },
    subscribe: ({ prefixes = [], except, ...options } = {}) => {
      const all = beginning === "" ? [] : [beginning];
      const stored = {
        prefixes: prefixes.length === 0 ? all : prefixes.map(toStored),
        except: except === undefined ? undefined : toStored(except),
      };
      return mapBatches(store.subscribe({ ...options, ...stored }), ownBatch);
    },
    setRetention: async (stream, retention) => await store.setRetention(validName(stream), retention),
    deleteStream: async (stream) => await store.deleteStream(validName(stream)),
    ping: store.ping,
    checkIntegrity: store.checkIntegrity,
    close: store.close,
  };
};
