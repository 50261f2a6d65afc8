import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect } from "chai";
import { userProjections } from "../../projections/eventstoredb/user-projections.ts";
import { obtainEventLogId } from "../../src/application/log-format.ts";
import { signMessage } from "../../src/application/webhooks/signature.ts";
import { credentialsDecider, credentialsStream } from "../../src/domain/accounts/credentials.ts";
import { dataKeyStream } from "../../src/domain/accounts/data-key.ts";
import { keyDecider, keyStream } from "../../src/domain/accounts/key.ts";
import { masterKeyDecider, masterKeyStream } from "../../src/domain/accounts/master-key.ts";
import { websiteDecider, websiteStream } from "../../src/domain/accounts/website.ts";
import { catalogDecider, catalogStream } from "../../src/domain/catalog/catalog.ts";
import { platformDecider, platformStream } from "../../src/domain/catalog/platform.ts";
import { eventTypes, isWellFormed } from "../../src/domain/event-shapes.ts";
import {
  postingDecider,
  usageAccountDecider,
  usageAccountStream,
} from "../../src/domain/ledger/accounts/usage-account.ts";
import { idempotencyDecider, idempotencyStream } from "../../src/domain/ledger/idempotency.ts";
import { journalStream } from "../../src/domain/ledger/journal/journal.ts";
import {
  journalRegistryDecider,
  journalRegistryStream,
} from "../../src/domain/ledger/journal/journal-registry.ts";
import { quotaDecider, quotaPrefix, quotaStream } from "../../src/domain/ledger/quota/quota.ts";
import { thresholdDecider } from "../../src/domain/ledger/quota/quota-threshold.ts";
import { rateStream } from "../../src/domain/ledger/rate.ts";
import { sealsStream } from "../../src/domain/ledger/seals/seal.ts";
import { lexiconsDecider, lexiconsStream } from "../../src/domain/lexicons/lexicons.ts";
import { pageScriptsDecider, pageScriptsStream } from "../../src/domain/page-scripts.ts";
import { audioDecider, audioStream } from "../../src/domain/synthesis/audio-events.ts";
import { deliveryDecider, deliveryPrefix, deliveryStream } from "../../src/domain/webhooks/delivery.ts";
import { webhooksDecider, webhooksStream } from "../../src/domain/webhooks/webhooks.ts";
import type { CommandHandler } from "../../src/eventstore/command-handler.ts";
import type { RecordedEvent } from "../../src/eventstore/event-store.ts";
import { auditEntries } from "../../src/ledger/audit/audit-entries.ts";
import { auditFormats, auditText } from "../../src/ledger/audit/audit-format.ts";
import { isOptional, membersRead } from "./event-members.ts";
import { expectGolden, plain } from "./golden.ts";
import { allProjections } from "./projections.ts";

interface Fixture {
  readonly stream: string;
  readonly type: string;
  readonly data: { readonly at?: string };
}

const fixtures: readonly Fixture[] = JSON.parse(
  readFileSync(join(import.meta.dirname, "fixtures/events.json"), "utf8"),
);

/** The fixtures as a log holds them. Made for each fold: some folds change their state in place. */
const log = (): RecordedEvent[] => {
  const lengths = new Map<string, number>();
  return fixtures.map(({ stream, type, data }, index) => {
    const revision = lengths.get(stream) ?? 0;
    lengths.set(stream, revision + 1);
    const created = Date.parse(data.at ?? "2026-12-31T00:00:00.000Z") + 25;
    const position = 10 * index + 7;
    return {
      id: `id-${index}`,
      stream,
      revision,
      position,
      type,
      data: structuredClone(data),
      created,
      metadata: {},
    };
  });
};

/** An aggregate, as far as a fold needs it. */
interface Fold {
  initial(): unknown;
  evolve(state: never, event: never): unknown;
}

/** The aggregates, each with the beginning of its streams' names. The rate has no aggregate. */
const aggregates: readonly (readonly [name: string, prefix: string, fold: Fold])[] = [
  ["master key", masterKeyStream, masterKeyDecider],
  ["catalog", catalogStream, catalogDecider],
  ["website", websiteStream(""), websiteDecider],
  ["key", keyStream(""), keyDecider],
  ["credentials", credentialsStream(""), credentialsDecider],
  ["lexicons", lexiconsStream(""), lexiconsDecider],
  ["audio", audioStream, audioDecider],
  ["platform", platformStream("chrome", "windows"), platformDecider],
  ["idempotency", idempotencyStream("vlk_1", { key: "" }), idempotencyDecider],
  ["account", usageAccountStream("vlk_3", ""), usageAccountDecider],
  ["thresholds", usageAccountStream("vlk_3", ""), thresholdDecider],
  ["posting", usageAccountStream("vlk_3", ""), postingDecider("journal-2")],
  ["journals", journalRegistryStream, journalRegistryDecider],
  ["quota", quotaPrefix, quotaDecider],
  ["webhooks", webhooksStream, webhooksDecider],
  ["delivery", deliveryPrefix, deliveryDecider],
  ["page scripts", pageScriptsStream(""), pageScriptsDecider],
];

/**
 * The initial state, and what each event changes in it, so that two errors cannot cancel each other
 * out.
 */
const changesOf = ({ initial, evolve }: Fold, events: readonly RecordedEvent[]) => {
  let state = initial();
  let before = plain(state);
  const changes = events.map(({ type, data }) => {
    state = evolve(state as never, { type, data } as never);
    const after = structuredClone(plain(state));
    const changed = changedMembers(before, after);
    before = after;
    return { after: type, ...changed };
  });
  return { changes: [plain(initial()), ...changes], state };
};

/** The members that differ, by their path; null for one that is no longer there. */
const changedMembers = (before: unknown, after: unknown, path = ""): Record<string, unknown> => {
  if (!isComposite(before) || !isComposite(after)) {
    return Object.is(before, after) ? {} : { [path]: after ?? null };
  }
  const names = Object.keys({ ...before, ...after });
  const inner = names.map((name) =>
    changedMembers(before[name], after[name], path ? `${path}.${name}` : name),
  );
  return Object.assign({}, ...inner);
};

const isComposite = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

const byStream = (prefix: string): [stream: string, RecordedEvent[]][] =>
  [...Map.groupBy(log(), ({ stream }) => stream)].filter(([stream]) => stream.startsWith(prefix));

/** Asks for the log's identity against the fixtures, without a store. */
const logIdentity = async (): Promise<{ stream: string; logId: string }> => {
  let latest = "";
  const execute = async (fold: Fold, stream: string) => {
    latest = stream;
    const events = log().filter((event) => event.stream === stream);
    return changesOf(fold, events);
  };
  const logId = await obtainEventLogId({ execute } as unknown as CommandHandler, "none", "");
  return { stream: latest, logId };
};

describe("golden files: events", () => {
  it("have a fixture of every type, each of them well formed", () => {
    const known = fixtures.filter(({ type }) => eventTypes.includes(type));
    expect([...new Set(known.map(({ type }) => type))].sort()).to.deep.equal([...eventTypes].sort());
    expect(known.filter((event) => !isWellFormed({ ...event, metadata: {} }))).to.deep.equal([]);
  });

  it("have every member in a fixture, and every optional one left out of another", () => {
    const { given, absent } = membersRead(fixtures);
    expect([...absent.difference(given)], "in no fixture").to.deep.equal([]);
    const optional = [...given].filter((member) => isOptional(fixtures, member));
    expect(optional).to.include("SynthesesServed.details");
    expect(
      optional.filter((member) => !absent.has(member)),
      "in every fixture",
    ).to.deep.equal([]);
  });

  it("are folded by their aggregates into the recorded states", () => {
    for (const [name, prefix, fold] of aggregates) {
      const streams = byStream(prefix).map(([stream, events]) => [stream, changesOf(fold, events).changes]);
      expect(streams, name).not.to.deep.equal([]);
      expectGolden(`aggregates/${name.replace(" ", "-")}.json`, Object.fromEntries(streams));
    }
  });

  it("are folded by every projection into the recorded states", async () => {
    for (const projection of await allProjections()) {
      const { name, prefixes, partition, initial, apply } = projection;
      const events = log().filter(({ stream }) => prefixes.some((prefix) => stream.startsWith(prefix)));
      const states = new Map<string, unknown>();
      for (const event of events) {
        const key = partition(event);
        if (key !== undefined) states.set(key, apply(states.get(key) ?? initial(), event));
      }
      expect(states.size, name).to.be.above(0);
      expectGolden(`projections/${name}.json`, Object.fromEntries(states));
    }
  });

  it("are exported as the recorded lines, those of CSV by their columns", async () => {
    for (const format of auditFormats) {
      const entries = log().flatMap((event) => auditEntries(event));
      let text = "";
      for await (const chunk of auditText(Readable.from(entries), format)) text += chunk;
      const [columns] = text.split("\r\n");
      expectGolden(`export.${format}.txt`, format === "csv" ? `${columns}\n` : text);
    }
  });

  it("are sent to webhooks with the recorded headers and body", () => {
    const data = { apiKey: "vlk_1", websiteId: "web_1" };
    const message = {
      id: "msg_1",
      type: "key.suspended",
      timestamp: "2026-11-05T10:15:00.000Z",
      data,
    } as const;
    expectGolden(
      "webhook-request.json",
      signMessage(message, ["whsec_c2VjcmV0"], Date.parse(message.timestamp)),
    );
  });

  it("are in streams of the recorded names", async () => {
    expectGolden("streams.json", {
      account: usageAccountStream("vlk_1", "2026-11"),
      audio: audioStream,
      catalog: catalogStream,
      credentials: credentialsStream("web_1"),
      dataKey: dataKeyStream("web_1"),
      journal: journalStream("0193"),
      journals: journalRegistryStream,
      key: keyStream("vlk_1"),
      lexicons: lexiconsStream("web_1"),
      webhooks: webhooksStream,
      delivery: deliveryStream("whk_1", "019af0"),
      log: await logIdentity(),
      masterKey: masterKeyStream,
      platform: platformStream("chrome", "windows"),
      quota: quotaStream("vlk_1", "2026-11"),
      rate: rateStream("instance-1"),
      seals: sealsStream,
      website: websiteStream("web_1"),
    });
  });

  it("are read by projections of the recorded names and versions", async () => {
    const projections = await allProjections();
    const recorded = projections.map(({ name, version, prefixes }) => ({ name, version, prefixes }));
    const onTheServer = (await userProjections()).map(({ name }) => name);
    expectGolden("projections.json", { projections: recorded, onTheServer });
  });
});
