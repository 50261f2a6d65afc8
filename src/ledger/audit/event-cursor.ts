import type { RecordedEvent } from "../../eventstore/event-store.ts";

interface Positioned {
  readonly position: number;
}

/** A sequence of events in order of position. */
export interface EventCursor<E extends Positioned = RecordedEvent> {
  /** The next event; undefined at the end. */
  readonly head: E | undefined;
  advance(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a cursor. It calls `readRest` only when the first event is consumed, so that few of many
 * cursors hold a page at the same time.
 */
export const cursorOf = <E extends Positioned = RecordedEvent>(
  first: E | undefined,
  readRest: () => AsyncIterable<E>,
): EventCursor<E> => {
  let head = first;
  let rest: AsyncIterator<E> | undefined;
  return {
    get head() {
      return head;
    },
    advance: async () => {
      rest ??= readRest()[Symbol.asyncIterator]();
      const { done, value } = await rest.next();
      head = done ? undefined : value;
    },
    close: async () => {
      await rest?.return?.();
    },
  };
};

/** The events of all cursors in order of position. Closes the cursors. */
export async function* mergeByPosition<E extends Positioned = RecordedEvent>(
  cursors: readonly EventCursor<E>[],
): AsyncGenerator<E, void, undefined> {
  let open = cursors.filter(({ head }) => head !== undefined);
  try {
    for (;;) {
      const next = open.reduce<EventCursor<E> | undefined>(earlier, undefined);
      if (next?.head === undefined) return;
      yield next.head;
      await next.advance();
      if (next.head === undefined) open = open.filter((cursor) => cursor !== next);
    }
  } finally {
    await Promise.all(cursors.map(({ close }) => close()));
  }
}

const earlier = <E extends Positioned>(
  best: EventCursor<E> | undefined,
  one: EventCursor<E>,
): EventCursor<E> | undefined =>
  one.head && (!best?.head || one.head.position < best.head.position) ? one : best;
