import { catalog } from "../../../../projections/catalog.ts";
import { credentials } from "../../../../projections/credentials.ts";
import { keys } from "../../../../projections/keys.ts";
import { lexicons } from "../../../../projections/lexicons.ts";
import { platforms } from "../../../../projections/platforms.ts";
import { hasPrefix, type Projection } from "../../../../projections/projection.ts";
import { suspensions } from "../../../../projections/suspensions.ts";
import { usageTotals } from "../../../../projections/usage-totals.ts";
import { verifiedOrigins } from "../../../../projections/verified-origins.ts";
import { webhooks } from "../../../../projections/webhooks.ts";
import { websites } from "../../../../projections/websites.ts";
import { canonicalJson } from "../../../../src/domain/ledger/journal/canonical.ts";
import { isCovered } from "../../../../src/domain/ledger/seals/seal.ts";
import type { EventStore, RecordedEvent } from "../../../../src/eventstore/event-store.ts";
import { readLog } from "../../../../src/eventstore/follow-events.ts";
import { validatedEventStore } from "../../../../src/eventstore/validated-event-store.ts";
import { createUsageReader } from "../../../../src/ledger/accounts/usage-reader.ts";
import { createUsageReport } from "../../../../src/ledger/reports/usage-report.ts";
import { collect } from "../../../support/collect.ts";

const projections: readonly Projection<unknown>[] = [
  websites,
  verifiedOrigins,
  keys,
  catalog,
  credentials,
  lexicons,
  platforms,
  webhooks,
  suspensions,
  usageTotals,
];

/**
 * Who may do what, and the usage reports: in short, everything that the service grants and charges.
 */
export const grantsOf = async (asStored: EventStore): Promise<string> => {
  const store = validatedEventStore(asStored);
  const states = projections.map((): Map<string, unknown> => new Map());
  for (const event of await collect(readLog(store))) {
    for (const [index, { prefixes, partition, initial, apply }] of projections.entries()) {
      const name = hasPrefix(event.stream, prefixes) ? partition(event) : undefined;
      if (name === undefined) continue;
      const partitions = states[index];
      partitions?.set(name, apply(partitions.get(name) ?? initial(), event));
    }
  }
  const clock = () => Date.UTC(2026, 10, 6);
  const report = createUsageReport({ store, accounts: createUsageReader({ store }), clock });
  // Positions of the log's end differ if there are more or fewer events of other streams.
  const reports = ["k1", "k2"].map(async (apiKey) => ({ ...(await report({ apiKey })), asOfPosition: 0 }));
  const quota = await collect(store.readStream("quota-k2-2026-11"));
  return canonicalJson([states.map((state) => [...state]), await Promise.all(reports), quota.map(visible)]);
};

const visible = ({ position, stream, revision, id, type, created, data, metadata }: RecordedEvent) => ({
  position,
  stream,
  revision,
  id,
  type,
  created,
  data,
  metadata,
});

/**
 * The covered events up to a position, as every reader of the log sees them: responses depend on
 * nothing else. Each is read in order of position and by its stream.
 */
export const coveredEvents = async (asStored: EventStore, upTo: number): Promise<string> => {
  const store = validatedEventStore(asStored);
  const events = (await collect(readLog(store))).filter(
    ({ stream, position }) => isCovered(stream) && position <= upTo,
  );
  const byStream = await Promise.all(
    [...new Set(events.map(({ stream }) => stream))].map((stream) => collect(store.readStream(stream))),
  );
  const streams = byStream.map((list) => list.filter(({ position }) => position <= upTo).map(visible));
  return canonicalJson([events.map(visible), streams]);
};
