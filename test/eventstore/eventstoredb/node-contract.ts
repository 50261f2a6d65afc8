import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import type { EventStoreSetup } from "../../contracts/event-store/rule.ts";
import { type EventStoreDBNodeOptions, startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";

const byStreamAlone =
  "the server remembers ids by stream, and compares them only if the revision is not the current one";
const hiddenFromStreamsAlone =
  "$all shows what retention hides from streams, until the server's next scavenge";

/** The rules of the contract that EventStoreDB cannot fulfil, each with its reason. */
export const except = {
  "assigns times that never decrease, also when its clock is set back": "the server takes its clock's time",
  "is a conflict at another revision than the first time": byStreamAlone,
  "is a conflict if only some of the ids are known": byStreamAlone,
  "is a conflict if the ids are known in another stream": byStreamAlone,
  "is a conflict in another order": "with `any`, known ids are a repeat in any order",
  "hides trimmed events from subscriptions": hiddenFromStreamsAlone,
  "hides deleted events from subscriptions": hiddenFromStreamsAlone,
  "always keeps the last event":
    "reads do not show the last event after its $maxAge either; its revision still counts",
  "reports the positions of events that the filter excludes":
    "a filtered subscription reports no position between matching events",
};

/** A test node, and clients of it. */
export const onNode = async (options: EventStoreDBNodeOptions = {}): Promise<EventStoreSetup> => {
  let now = Date.now();
  const node = await startEventStoreDBNode({ ...options, clock: () => now });
  const open = () => openEventStoreDB({ url: node.url, appendTimeoutMs: 15_000 });
  const store = await open();
  return {
    store,
    again: open,
    advance: (milliseconds) => {
      now += milliseconds;
    },
    end: async () => {
      await store.close();
      await node.close();
    },
  };
};
