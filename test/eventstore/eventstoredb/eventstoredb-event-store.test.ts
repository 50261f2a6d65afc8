import { randomUUID } from "node:crypto";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { prefixedEventStore } from "../../../src/eventstore/prefixed-event-store.ts";
import { event } from "../../contracts/event-store/events.ts";
import { eventStoreContract } from "../../contracts/event-store.ts";
import { scopedStore } from "../../support/scoped-store.ts";
import { except, onNode } from "./node-contract.ts";

eventStoreContract("EventStoreDB", onNode, { except });

/**
 * A real server, possibly shared. Its credentials must allow reading $all and writing stream
 * metadata.
 */
const shared = process.env.EVENT_STORE_TEST_URL;

const clockOfServer = "a real server's clock cannot be advanced";
const exceptShared = {
  ...except,
  "keeps events for at most `maxAgeSeconds`": clockOfServer,
  "keeps more young events than a driver reads in a page": clockOfServer,
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
