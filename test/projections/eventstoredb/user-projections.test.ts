import { expect } from "chai";
import fc from "fast-check";
import { catalogEntries } from "../../../projections/catalog-entries.ts";
import {
  type UserProjection,
  userProjectionNames,
  userProjections,
} from "../../../projections/eventstoredb/user-projections.ts";
import { monthlyQuota } from "../../../projections/monthly-quota.ts";
import type { Projection } from "../../../projections/projection.ts";
import { rate } from "../../../projections/rate.ts";
import { createProjectionRunner } from "../../../projections/runner/runner.ts";
import type { EventStore, RecordedEvent } from "../../../src/eventstore/event-store.ts";
import { uuidv7 } from "../../../src/eventstore/uuid.ts";
import { validatedEventStore } from "../../../src/eventstore/validated-event-store.ts";
import { compileProjection, toScriptEvent } from "../../support/projection-language.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { usagePosted } from "../../support/usage-account-events.ts";
import { type LogEvent, recordEvents } from "../fold-events.ts";
import { history } from "./histories.ts";

const sameFolds: readonly Projection<unknown>[] = [
  catalogEntries,
  monthlyQuota,
  rate,
] as Projection<never>[] as never;

/**
 * Replaces the time of each append by the event's own time, because servers do not give scripts the
 * former.
 */
const storedAt = (store: EventStore): EventStore => ({
  ...store,
  async *subscribe(options) {
    for await (const { events, ...batch } of store.subscribe(options)) {
      const dated = events.map((event) => ({
        ...event,
        created: Date.parse((event.data as { at: string }).at),
      }));
      yield { ...batch, events: dated };
    }
  },
});

/** Appends the events to a log. Returns the recorded events and the service's views. */
const appendAndFold = async (events: readonly LogEvent[]) => {
  const { store: opened, remove } = await openTemporaryStore();
  const store = validatedEventStore(storedAt(opened));
  try {
    await Promise.all(
      events.map(({ stream, type, data }) =>
        store.append(stream, [{ id: uuidv7(Date.now()), type, data, metadata: {} }], "any"),
      ),
    );
    const runner = createProjectionRunner({ store, projections: sameFolds });
    await runner.start();
    const views = sameFolds.map((projection) => new Map(runner.view(projection).entries()));
    await runner.close();
    const logged: RecordedEvent[] = [];
    for await (const batch of store.subscribe()) {
      logged.push(...batch.events);
      if (batch.caughtUp) break;
    }
    return { logged, views };
  } finally {
    await remove();
  }
};

describe("user projections", () => {
  let all: readonly UserProjection[];

  before(async () => {
    all = await userProjections();
  });

  const run = (query: string, events: readonly RecordedEvent[]) =>
    compileProjection(query).run(events.map(toScriptEvent));

  it("are named after their projection and its version", () => {
    expect(all.map(({ name }) => name)).to.deep.equal([
      "voxledger-catalog-v3",
      "voxledger-monthly-quota-v4",
      "voxledger-rate-v2",
    ]);
    expect(userProjectionNames()).to.deep.equal(all.map(({ name }) => name));
    expect(userProjectionNames("prod")[0]).to.equal("voxledger-prod.catalog-v3");
  });

  it("have the same states as the service's views, for every history", async () => {
    await fc.assert(
      fc.asyncProperty(history(), async (events) => {
        const isServers = ({ stream }: LogEvent) => stream.startsWith("$");
        const { logged, views } = await appendAndFold(events.filter((event) => !isServers(event)));
        const whole = [...logged, ...recordEvents(events.filter(isServers))];
        const states = all.map(({ query }) => run(query, whole));
        expect(states).to.deep.equal(views);
      }),
      { numRuns: 25 },
    );
  });

  it("of an installation with a stream prefix are named after it and read only its streams", async () => {
    await fc.assert(
      fc.asyncProperty(history(), async (events) => {
        const ownEvents = events.filter(({ stream }) => !stream.startsWith("$"));
        const { logged } = await appendAndFold(ownEvents);
        const stored = logged.map((event) => ({ ...event, stream: `prod.${event.stream}` }));
        for (const [index, { name, family, query }] of (await userProjections("prod")).entries()) {
          const unprefixed = all[index];
          expect([name, family].map((title) => title.replace("voxledger-prod.", "voxledger-"))).to.deep.equal(
            [unprefixed?.name, unprefixed?.family],
          );
          const whole = [...stored, ...logged].sort((a, b) => a.position - b.position);
          expect(run(query, whole)).to.deep.equal(run(unprefixed?.query ?? "", logged));
          expect(run(unprefixed?.query ?? "", whole)).to.deep.equal(run(unprefixed?.query ?? "", logged));
        }
      }),
      { numRuns: 5 },
    );
  });

  it("skip events that are not JSON", () => {
    for (const { query } of all) {
      const link = {
        id: "1",
        type: "$>",
        stream: "usage-k1-2026-11",
        revision: 0,
        json: undefined,
      };
      expect(compileProjection(query).run([link]).size).to.equal(0);
    }
  });

  it("never read the data of other applications' streams, at which the server would fault", () => {
    const readsAll = "fromAll().partitionBy(function (e) { return e.data && null; }).when({});";
    for (const json of ['"text"', "null", '{"text":"\u2028"}', '{"text":"\u2029"}']) {
      const foreign = { id: "1", type: "Foreign", stream: "other-1", revision: 0, json };
      expect(() => compileProjection(readsAll).run([foreign])).to.throw();
      for (const { query } of all) expect(compileProjection(query).run([foreign]).size).to.equal(0);
    }
  });

  it("skip malformed events of the service's own streams, at which the server would fault", () => {
    const own: readonly [stream: string, type: string][] = [
      ["catalog", "VoiceAdded"],
      ["usage-k1-2026-11", "UsagePosted"],
      ["rate-i1", "RequestsCounted"],
    ];
    const malformed = ['"text"', "null", "[]", "{", "", "{}", '{"at":"now"}', '{"at":"\u2028"}'];
    for (const [stream, type] of own) {
      const events = malformed.map((json, revision) => ({ id: `${revision}`, type, stream, revision, json }));
      for (const { query } of all) expect(compileProjection(query).run(events).size).to.equal(0);
    }
  });

  it("continue after a malformed event", () => {
    const stream = "usage-k1-2026-11";
    const { type, data } = usagePosted({ characters: 5 });
    const { at: _, ...undated } = data;
    const events = [undated, data].map((each) => ({ stream, type, data: each }));
    const [, quota] = all;
    expect(run(quota?.query ?? "", recordEvents(events)).get(stream)).to.include({
      characters: 5,
      revision: 1,
    });
  });

  it("are small enough for the server's compilation timeout", () => {
    for (const { query } of all) expect(query.length).to.be.below(4_000);
  });

  it("append nothing to the log", () => {
    for (const { query } of all) expect(query).not.to.match(/\b(emit|linkTo|outputState|outputTo)\b/);
  });

  it("are generated deterministically", async () => {
    expect(await userProjections()).to.deep.equal(all);
  });
});
