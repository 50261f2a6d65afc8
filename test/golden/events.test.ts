import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { userProjections } from "../../projections/eventstoredb/user-projections.ts";
import { identifyLog } from "../../src/application/log-identity.ts";
import { credentialsDecider, credentialsStream } from "../../src/domain/accounts/credentials.ts";
import { keyDecider, keyStream } from "../../src/domain/accounts/key.ts";
import { masterKeyDecider, masterKeyStream } from "../../src/domain/accounts/master-key.ts";
import { websiteDecider, websiteStream } from "../../src/domain/accounts/website.ts";
import { catalogDecider, catalogStream } from "../../src/domain/catalog/catalog.ts";
import { platformDecider, platformStream } from "../../src/domain/catalog/platform.ts";
import { isWellFormed, type KnownEvent } from "../../src/domain/event-shapes.ts";
import { rateStream } from "../../src/domain/usage/rate.ts";
import { usageDecider, usageStream } from "../../src/domain/usage/usage.ts";
import { voidingDecider } from "../../src/domain/usage/voiding.ts";
import type { CommandHandler } from "../../src/eventstore/command-handler.ts";
import type { RecordedEvent } from "../../src/eventstore/event-store.ts";
import { isOptional, membersRead } from "./event-members.ts";
import { expectGolden } from "./golden.ts";
import { allProjections } from "./projections.ts";

/** The compiler requires every event type that this release knows. */
const types = Object.keys({
  MasterKeyRecorded: true,
  WebsiteRegistered: true,
  WebsiteConfigured: true,
  OriginsChanged: true,
  OriginVerificationIssued: true,
  OriginVerified: true,
  KeyIssued: true,
  SecretCreated: true,
  SecretRevoked: true,
  PlanChanged: true,
  KeySuspended: true,
  KeyReinstated: true,
  CredentialsSet: true,
  CredentialsResealed: true,
  CredentialsRemoved: true,
  SystemVoiceAdded: true,
  SystemVoiceDeprecated: true,
  VoiceAdded: true,
  VoiceChanged: true,
  VoiceDeprecated: true,
  VoicesReported: true,
  RequestsCounted: true,
  SynthesisServed: true,
  ServingVoided: true,
  StreamEnded: true,
} satisfies Record<KnownEvent["type"], true>);

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

const requestIds = new Set(["r-2", "r-4", "r-5"]);

/** By the beginning of a stream's name. The rate has none: it is only reported and projected. */
const aggregates: readonly (readonly [name: string, prefix: string, fold: Fold])[] = [
  ["master key", masterKeyStream, masterKeyDecider],
  ["catalog", catalogStream, catalogDecider],
  ["website", websiteStream(""), websiteDecider],
  ["key", keyStream(""), keyDecider],
  ["credentials", credentialsStream(""), credentialsDecider],
  ["platform", platformStream("chrome", "windows"), platformDecider],
  ["usage", "usage-", usageDecider],
  ["voiding", "usage-", voidingDecider(requestIds)],
];

/** After each event, so that two errors cannot cancel each other out. */
const statesOf = ({ initial, evolve }: Fold, events: readonly RecordedEvent[]) => {
  let state = initial();
  return events.map(({ type, data }) => {
    state = evolve(state as never, { type, data } as never);
    return { after: type, state };
  });
};

const byStream = (prefix: string): [stream: string, RecordedEvent[]][] =>
  [...Map.groupBy(log(), ({ stream }) => stream)].filter(([stream]) => stream.startsWith(prefix));

/** Asks for the log's identity against the fixtures, without a store. */
const logIdentity = async (): Promise<{ stream: string; logId: string }> => {
  let asked = "";
  const execute = async (fold: Fold, stream: string) => {
    asked = stream;
    const events = log().filter((event) => event.stream === stream);
    return { state: statesOf(fold, events).at(-1)?.state };
  };
  const logId = await identifyLog({ execute } as unknown as CommandHandler, "none", "");
  return { stream: asked, logId };
};

describe("golden files: events", () => {
  it("have a fixture of every type, each of them well formed", () => {
    const known = fixtures.filter(({ type }) => types.includes(type));
    expect([...new Set(known.map(({ type }) => type))].sort()).to.deep.equal([...types].sort());
    expect(known.filter((event) => !isWellFormed(event))).to.deep.equal([]);
  });

  it("have every member in a fixture, and every optional one left out of another", () => {
    const { given, absent } = membersRead(fixtures);
    expect([...absent.difference(given)], "in no fixture").to.deep.equal([]);
    const optional = [...given].filter((member) => isOptional(fixtures, member));
    expect(optional).to.include("SynthesisServed.idempotency");
    expect(
      optional.filter((member) => !absent.has(member)),
      "in every fixture",
    ).to.deep.equal([]);
  });

  it("are folded by their aggregates into the recorded states", () => {
    for (const [name, prefix, fold] of aggregates) {
      const streams = byStream(prefix).map(([stream, events]) => [stream, statesOf(fold, events)]);
      expect(streams, name).not.to.deep.equal([]);
      expectGolden(`aggregates/${name.replace(" ", "-")}.json`, Object.fromEntries(streams));
    }
  });

  it("are folded by every projection into the recorded states", async () => {
    for (const projection of await allProjections()) {
      const { name, prefixes, partition, initial, apply } = projection;
      const heard = log().filter(({ stream }) => prefixes.some((prefix) => stream.startsWith(prefix)));
      const states = new Map<string, unknown>();
      for (const event of heard) {
        const key = partition(event);
        if (key !== undefined) states.set(key, apply(states.get(key) ?? initial(), event));
      }
      expect(states.size, name).to.be.above(0);
      expectGolden(`projections/${name}.json`, Object.fromEntries(states));
    }
  });

  it("are in streams of the recorded names", async () => {
    expectGolden("streams.json", {
      catalog: catalogStream,
      credentials: credentialsStream("web_1"),
      key: keyStream("vlk_1"),
      log: await logIdentity(),
      masterKey: masterKeyStream,
      platform: platformStream("chrome", "windows"),
      rate: rateStream("instance-1"),
      usage: usageStream("vlk_1", "2026-11"),
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
