import { prefixedEventStore } from "../../../src/eventstore/prefixed-event-store.ts";
import type { EventStoreSetup } from "../../contracts/event-store/rule.ts";
import { eventStoreContract } from "../../contracts/event-store.ts";
import { randomLag } from "../../support/eventstoredb-node/index-lag.ts";
import { testSeed } from "../../support/sample.ts";
import { except, onNode } from "./node-contract.ts";

const prefixed = ({ store, again, ...setup }: EventStoreSetup): EventStoreSetup => ({
  ...setup,
  store: prefixedEventStore(store, "prod"),
  again: async () => prefixedEventStore(await again(), "prod"),
});

eventStoreContract(
  `EventStoreDB with index lag and a stream prefix (seed ${testSeed})`,
  async () => prefixed(await onNode({ indexLagMs: randomLag(testSeed), commitTimeoutMs: 250 })),
  { except },
);
