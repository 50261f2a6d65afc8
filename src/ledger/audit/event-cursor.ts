import type { RecordedEvent } from "../../eventstore/event-store.ts";

/** A sequence of events in order of position. */
export interface EventCursor {
  /** The next event; undefined at the end. */
  readonly head: RecordedEvent | undefined;
  advance(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a cursor. It calls `readRest` only when the first event is consumed, so that few of many
 * cursors hold a page at the same time.
 */
export const cursorOf = (
  first: RecordedEvent | undefined,
  readRest: () => AsyncIterable<RecordedEvent>,
): EventCursor => {
  let head = first;
  let rest: AsyncIterator<RecordedEvent> | undefined;
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
export async function* mergeByPosition(
  cursors: readonly EventCursor[],
): AsyncGenerator<RecordedEvent, void, undefined> {
  let open = cursors.filter(({ head }) => head !== undefined);
  try {
    for (;;) {
      const next = open.reduce(earlier, undefined);
      if (next?.head === undefined) return;
      yield next.head;
      await next.advance();
      if (next.head === undefined) open = open.filter((cursor) => cursor !== next);
    }
  } finally {
    await Promise.all(cursors.map(({ close }) => close()));
  }
}

const earlier = (best: EventCursor | undefined, one: EventCursor): EventCursor | undefined =>
  one.head && (!best?.head || one.head.position < best.head.position) ? one : best;
