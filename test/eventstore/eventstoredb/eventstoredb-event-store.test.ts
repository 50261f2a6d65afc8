import { randomUUID } from "node:crypto";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { event } from "../../contracts/event-store/events.ts";
import type { EventStoreSetup } from "../../contracts/event-store/rule.ts";
import { eventStoreContract } from "../../contracts/event-store.ts";
import { randomLag } from "../../support/eventstoredb-node/index-lag.ts";
import { type EventStoreDBNodeOptions, startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";
import { scopedStore } from "../../support/scoped-store.ts";

const byStreamAlone =
  "ids are remembered for each stream, and looked at only where the revision is not the current one";
const hiddenFromStreamsAlone =
  "$all shows what retention hides from streams, until the server's next scavenge";

const except = {
  "at another revision than the first time is a conflict": byStreamAlone,
  "with ids of which some are known and some are not is a conflict": byStreamAlone,
  "with ids known in another stream is a conflict": byStreamAlone,
  "in another order is a conflict": "with `any`, remembered ids are a repeat in whatever order",
  "hides trimmed events from subscriptions": hiddenFromStreamsAlone,
  "always keeps the last event":
    "past its $maxAge the last event vanishes from reads as well; its revision still counts",
  "passes the position of events that it leaves out":
    "a filtered subscription tells no position between the events that it lets through",
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

const seed = Date.now();

eventStoreContract("EventStoreDB", onNode, { except });
eventStoreContract(
  `EventStoreDB with index lag (seed ${seed})`,
  () => onNode({ indexLagMs: randomLag(seed), commitTimeoutMs: 250 }),
  { except },
);

/** A server that others may use too, with credentials that may read $all and write streams' metadata. */
const shared = process.env.EVENT_STORE_TEST_URL;

const exceptShared = {
  ...except,
  "keeps events so long at most": "a real server's clock cannot be put forward",
};

if (shared) {
  eventStoreContract(
    "EventStoreDB at EVENT_STORE_TEST_URL",
    async () => {
      const scope = `contract-${randomUUID()}-`;
      const plain = () => openEventStoreDB({ url: shared, appendTimeoutMs: 15_000 });
      const first = await plain();
      // Within the scope, so that the server's filter may begin there.
      const { position } = await first.append(`${scope}beginning`, [event()], "none");
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
