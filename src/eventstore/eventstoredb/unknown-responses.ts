import type { EventEmitter } from "node:events";
import { StreamsClient } from "@eventstore/db-client/generated/streams_grpc_pb.js";

/**
 * Makes the client package ignore a response to an append that it no longer waits for. Its listener
 * throws on one (6.2.1, `batchAppend.js`), which would end the process. Such responses occur when a
 * broken stream of appends ends late: its end rejects the appends of the stream that has replaced
 * it, and then the server responds. For their callers the outcome is unknown: they repeat the
 * append with the same ids.
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
 * The listener destructures the append that it looks up, which is a TypeError for an unknown one.
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
