import { randomUUID } from "node:crypto";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { prefixedEventStore } from "../../../src/eventstore/prefixed-event-store.ts";
import { event } from "../../contracts/event-store/events.ts";
import type { EventStoreSetup } from "../../contracts/event-store/rule.ts";
import { eventStoreContract } from "../../contracts/event-store.ts";
import { randomLag } from "../../support/eventstoredb-node/index-lag.ts";
import { type EventStoreDBNodeOptions, startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";
import { scopedStore } from "../../support/scoped-store.ts";

const byStreamAlone =
  "the server remembers ids by stream, and compares them only if the revision is not the current one";
const hiddenFromStreamsAlone =
  "$all shows what retention hides from streams, until the server's next scavenge";

const except = {
  "assigns times that never decrease, also when its clock is set back": "the server takes its clock's time",
  "is a conflict at another revision than the first time": byStreamAlone,
  "is a conflict if only some of the ids are known": byStreamAlone,
  "is a conflict if the ids are known in another stream": byStreamAlone,
  "is a conflict in another order": "with `any`, known ids are a repeat in any order",
  "hides trimmed events from subscriptions": hiddenFromStreamsAlone,
  "always keeps the last event":
    "reads do not show the last event after its $maxAge either; its revision still counts",
  "reports the positions of events that the filter excludes":
    "a filtered subscription reports no position between matching events",
};

const onNode = async (options: EventStoreDBNodeOptions = {}): Promise<EventStoreSetup> => {
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

const prefixed = ({ store, again, ...setup }: EventStoreSetup): EventStoreSetup => ({
  ...setup,
  store: prefixedEventStore(store, "prod"),
  again: async () => prefixedEventStore(await again(), "prod"),
});

const seed = Date.now();

eventStoreContract("EventStoreDB", onNode, { except });
eventStoreContract(
  `EventStoreDB with index lag and a stream prefix (seed ${seed})`,
  async () => prefixed(await onNode({ indexLagMs: randomLag(seed), commitTimeoutMs: 250 })),
  { except },
);

/**
 * A real server, possibly shared. Its credentials must allow reading $all and writing stream
 * metadata.
 */
const shared = process.env.EVENT_STORE_TEST_URL;

const exceptShared = {
  ...except,
  "keeps events for at most `maxAgeSeconds`": "a real server's clock cannot be advanced",
};

if (shared) {
  eventStoreContract(
    "EventStoreDB at EVENT_STORE_TEST_URL",
    async () => {
      const scope = `contract-${randomUUID().slice(0, 8)}`;
      const plain = () => openEventStoreDB({ url: shared, appendTimeoutMs: 15_000 });
      const first = await plain();
      // Within the scope, because a filtered subscription must start at a matching event.
      const { position } = await prefixedEventStore(first, scope).append("beginning", [event()], "none");
      return {
        store: scopedStore(first, scope, position),
        again: async () => scopedStore(await plain(), scope, position),
        advance: () => {},
        end: first.close,
      };
    },
    { except: exceptShared },
  );
}
