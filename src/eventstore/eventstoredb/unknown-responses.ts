import type { EventEmitter } from "node:events";
import { StreamsClient } from "@eventstore/db-client/generated/streams_grpc_pb.js";

/**
 * Makes the client package ignore the responses to appends that it no longer waits for. The
 * package's listener throws on such a response (db-client 6.2.1, `batchAppend.js`), which would end
 * the process. This happens when a broken stream of appends ends after another stream has replaced
 * it. The package then rejects the appends of the new stream too, but the server still responds to
 * them. The callers of these appends do not know the outcome, and repeat them with the same ids.
 */
export const ignoreUnknownResponses = (): void => {
  const { prototype } = StreamsClient;
  if (patched.has(prototype)) return;
  patched.add(prototype);
  const { batchAppend } = prototype;
  prototype.batchAppend = function (...args: []) {
    const call = batchAppend.apply(this, args);
    const on: EventEmitter["on"] = call.on.bind(call);
    return Object.assign(call, {
      on: (event: string, listener: Listener) =>
        on(event, event === "data" ? withoutTypeErrors(listener) : listener),
    });
  };
};

type Listener = (...values: unknown[]) => void;

const patched = new WeakSet<object>();

/**
 * The listener looks up the append of a response and destructures it. If the append is unknown,
 * this throws a TypeError.
 */
const withoutTypeErrors =
  (listener: Listener): Listener =>
  (...values) => {
    try {
      listener(...values);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  };
