import { EventStoreUnavailable } from "../../eventstore/event-store.ts";
import type { WriterProtocol } from "../../eventstore/sqlite/protocol.ts";
import type { Writer } from "../../eventstore/sqlite/writer.ts";
import type { Handlers, Port, Protocol } from "../../workers/port.ts";

type Kind = keyof WriterProtocol & string;

/** Calls of a worker to the process with the writer of the embedded log. */
export type WriteCalls = {
  write: {
    request: { readonly kind: Kind; readonly request: WriterProtocol[Kind]["request"] };
    response: WriterProtocol[Kind]["response"];
  };
};

/** Serves the calls of workers. `writer`: undefined if the log is not the embedded one. */
export const serveWriter = (writer: Writer | undefined): Handlers<WriteCalls> => ({
  write: ({ kind, request }) => {
    if (!writer) throw new Error("the workers share no writer");
    return writer.call(kind, request as never);
  },
});

/** Uses the writer of another process. `close` ends only this use: the writer stays open. */
export const openRemoteWriter = (port: Pick<Port<WriteCalls, Protocol>, "call">): Writer => {
  const inProgress = new Set<Promise<unknown>>();
  let isClosed = false;
  return {
    call: async (kind, request) => {
      if (isClosed) throw new EventStoreUnavailable("the event store is closed");
      const writing = port.call("write", { kind, request });
      inProgress.add(writing);
      try {
        return (await writing) as never;
      } catch (cause) {
        throw new EventStoreUnavailable((cause as Error).message, { cause });
      } finally {
        inProgress.delete(writing);
      }
    },
    close: async () => {
      isClosed = true;
      await Promise.allSettled(inProgress);
    },
  };
};
