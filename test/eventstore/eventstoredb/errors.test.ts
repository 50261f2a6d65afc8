import { EventStoreDBClient } from "@eventstore/db-client";
import { expect } from "chai";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { event, eventsOf, expectConflict, ids, read, readLog } from "../../contracts/event-store/events.ts";
import { withTemporaryFolder } from "../../support/child-process.ts";
import { type EventStoreDBNode, startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";
import { until } from "../../support/processes.ts";
import { rejection } from "../../support/rejection.ts";
import { expectUnavailable, retryWhileUnavailable } from "../unavailable.ts";

const quick = { appendTimeoutMs: 1_000, readTimeoutMs: 1_500 };

describe("the EventStoreDB driver after errors", () => {
  let node: EventStoreDBNode;
  /** The store under test, with short timeouts. */
  let store: EventStore;
  /** A store for calls that take long and are not under test. */
  let patient: EventStore;

  beforeEach(async () => {
    node = await startEventStoreDBNode();
    store = await openEventStoreDB({ url: node.url, ...quick });
    patient = await openEventStoreDB({ url: node.url, appendTimeoutMs: 120_000, readTimeoutMs: 120_000 });
  });

  afterEach(async () => {
    node.faults.thawAppends();
    node.faults.accept();
    await store.close();
    await patient.close();
    await node.close();
  });

  const inFlight = async (count: number): Promise<Promise<unknown>[]> => {
    await store.append("first", [event()], "none");
    node.faults.freezeAppends();
    const appends = eventsOf(count).map((fact, n) => store.append(`s${n}`, [fact], "none"));
    for (const append of appends) append.catch(() => {});
    await until("all appends are in progress", () => node.faults.frozen === count);
    return appends;
  };

  it("fails all appends in progress of every store in the process when their stream breaks, and accepts the repeats", async () => {
    await store.append("warm", [event()], "none");
    const other = await openEventStoreDB({ url: node.url, ...quick });
    const facts = eventsOf(20);
    const appendAll = () => facts.map((fact, n) => (n % 2 ? other : store).append(`s${n}`, [fact], "none"));
    node.faults.freezeAppends();
    const first = appendAll();
    for (const append of first) append.catch(() => {});
    await until("all appends are in progress", () => node.faults.frozen === facts.length);
    node.faults.breakBatchStreams(2);
    for (const append of first) await expectUnavailable(() => append);
    node.faults.thawAppends();
    await Promise.all(
      facts.map((fact, n) => retryWhileUnavailable(() => store.append(`s${n}`, [fact], "none"))),
    );
    expect(
      ids(await readLog(store))
        .toSorted()
        .slice(0, 21),
    ).to.have.length(21);
    await other.close();
  });

  it("rejects an append that a frozen server does not acknowledge, and stores its repeat once", async () => {
    await store.append("s", [event()], "none");
    node.faults.freezeAppends();
    const fact = event();
    await expectUnavailable(() => store.append("s", [fact], 0));
    node.faults.thawAppends();
    expect((await retryWhileUnavailable(() => store.append("s", [fact], 0))).revision).to.equal(1);
    expect(ids(await read(store, "s")).slice(1)).to.deep.equal([fact.id]);
  });

  it("stores an append once whose response was lost", async () => {
    for (const expected of ["none", "any"] as const) {
      node.faults.loseResponses(1);
      const fact = event();
      await expectUnavailable(() => store.append(expected, [fact], expected));
      expect((await retryWhileUnavailable(() => store.append(expected, [fact], expected))).revision).to.equal(
        0,
      );
      expect(await read(store, expected)).to.have.length(1);
    }
  });

  it("with `any`, stores an append once to a stream without visible events, although the response was lost", async () => {
    let now = Date.now();
    const aging = await startEventStoreDBNode({ clock: () => now });
    const there = await openEventStoreDB({ url: aging.url, ...quick });
    await there.append("s", eventsOf(3), "none");
    await there.setRetention("s", { maxAgeSeconds: 60 });
    now += 120_000;
    aging.faults.loseResponses(1);
    const fact = event();
    await expectUnavailable(() => there.append("s", [fact], "any"));
    expect((await retryWhileUnavailable(() => there.append("s", [fact], "any"))).revision).to.equal(3);
    expect(ids(await read(there, "s"))).to.deep.equal([fact.id]);
    await there.close();
    await aging.close();
  });

  it("reports a conflict on a stream without visible events, and never appends at the server's revision", async () => {
    let now = Date.now();
    const aging = await startEventStoreDBNode({ clock: () => now });
    const there = await openEventStoreDB({ url: aging.url, ...quick });
    await there.append("s", eventsOf(3), "none");
    await there.setRetention("s", { maxAgeSeconds: 60 });
    now += 120_000;
    await expectConflict(there.append("s", [event()], "none"), 2);
    await there.close();
    await aging.close();
  });

  it("stores the same id again at the current revision, where the server compares no ids", async () => {
    const fact = event();
    await store.append("s", [fact], "none");
    expect((await store.append("s", [fact], 0)).revision).to.equal(1);
  });

  for (const prefixes of [[], ["rate-", "key-"]]) {
    it(`continues after an event that a scavenge has removed, ${prefixes.length > 0 ? "filtered" : "unfiltered"}`, async () => {
      const [key, ...rates] = eventsOf(5);
      if (!key) throw new Error("there is no event");
      await store.append("rate-1", rates.slice(0, 3), "none");
      await store.append("key-1", [key], "none");
      const [gone] = await readLog(store, { prefixes: ["rate-"] });
      await store.setRetention("rate-1", { maxCount: 1 });
      const { position } = await store.append("rate-1", rates.slice(3), 2);
      node.scavenge();

      const after = gone?.position ?? -1;
      expect(await store.eventAt(after)).to.equal(undefined);
      expect(ids(await readLog(store, { fromExclusive: after, prefixes }))).to.deep.equal([
        key.id,
        rates[3]?.id,
      ]);
      expect(ids(await readLog(store, { prefixes }))).to.deep.equal([key.id, rates[3]?.id]);
      expect((await store.eventAt(position))?.id).to.equal(rates[3]?.id);
      expect((await store.append("rate-1", [event()], 3)).revision).to.equal(4);
    });
  }

  it("recovers after the server has ended the stream of appends with OK", async () => {
    await store.append("s", [event()], "none");
    node.faults.endBatchStreams();
    const fact = event();
    await retryWhileUnavailable(() => store.append("s", [fact], 0));
    expect(await read(store, "s")).to.have.length(2);
  });

  it("recovers if the server refuses to list its features, or does not respond", async () => {
    node.faults.refuse(13);
    await expectUnavailable(() => store.append("s", [event()], "none"));
    node.faults.accept();
    await retryWhileUnavailable(() => store.append("s", [event()], "none"));

    const late = await startEventStoreDBNode();
    const other = await openEventStoreDB({ url: late.url, ...quick });
    late.faults.freezeAppends();
    const fact = event();
    await expectUnavailable(() => other.append("s", [fact], "none"));
    late.faults.thawAppends();
    await retryWhileUnavailable(() => other.append("s", [fact], "none"));
    expect(await read(other, "s")).to.have.length(1);
    await other.close();
    await late.close();
  });

  for (const code of [2, 13, 14, 15]) {
    it(`recovers from errors and broken streams with code ${code}`, async () => {
      await store.append("s", [event()], "none");
      node.faults.refuse(code);
      await expectUnavailable(() => store.append("s", [event()], 0));
      await expectUnavailable(() => read(store, "s"));
      await expectUnavailable(() => store.ping());
      await expectUnavailable(() => readLog(store));
      node.faults.accept();
      await retryWhileUnavailable(() => store.append("s", [event()], 0));
      await retryWhileUnavailable(() => store.ping());
      node.faults.breakBatchStreams(code);
      await retryWhileUnavailable(() => store.append("s", [event()], 1));
      expect(await retryWhileUnavailable(() => read(store, "s"))).to.have.length(3);
    });
  }

  const fill = async (stream: string, count: number, bytes: number): Promise<void> => {
    const data = { bytes: "x".repeat(bytes) };
    for (let n = 0; n < count; n += 5)
      await patient.append(
        stream,
        Array.from({ length: 5 }, () => event(data)),
        "any",
      );
  };

  it("fails a read when the error of another call replaces the client, instead of ending it early", async () => {
    await fill("s", 80, 200_000);
    const reading = read(store, "s", { fromInclusive: 1 });
    reading.catch(() => {});
    await until("the read has begun", () => node.faults.open.reads === 1);
    node.faults.refuse(2);
    await expectUnavailable(() => read(store, "t"));
    await expectUnavailable(() => reading);
  });

  it("continues a read with the new client after another call's error, if none of its own calls was open", async () => {
    await fill("s", 40, 1);
    const revisions: number[] = [];
    for await (const { revision } of store.readStream("s")) {
      revisions.push(revision);
      if (revision !== 0) continue;
      node.faults.refuse(2);
      await expectUnavailable(() => read(store, "t"));
      node.faults.accept();
    }
    expect(revisions).to.deep.equal(Array.from({ length: 40 }, (_, n) => n));
  });

  it("reads the last events of a long stream thousands of times without losing its connection", async () => {
    await fill("s", 300, 100);
    // Node.js's HTTP/2 server ends a connection after about 1,000 streams that were reset within a
    // second.
    for (let n = 0; n < 3_000; n += 100) {
      const reads = Array.from({ length: 100 }, async () => {
        for await (const { revision } of patient.readStream("s", { direction: "backwards" })) return revision;
        return undefined;
      });
      expect(new Set(await Promise.all(reads))).to.deep.equal(new Set([299]));
    }
  });

  it("ends the calls of readers that stop early or are aborted", async () => {
    await fill("s", 100, 50_000);
    for await (const _ of store.readStream("s", { limit: 90 })) break;
    const abort = new AbortController();
    const reading = read(store, "s", { limit: 90, signal: abort.signal });
    reading.catch(() => {});
    await until("the second read has begun", () => node.faults.open.reads > 0);
    abort.abort(new Error("aborted"));
    expect(String(await rejection(reading))).to.equal("Error: aborted");
    await until("both calls have ended", () => node.faults.open.reads === 0);
  });

  it("loses and repeats no append when connections are cut", async () => {
    await store.append("s", [event()], "none");
    const facts = eventsOf(300);
    const appends = Promise.all(
      facts.map((fact, n) => retryWhileUnavailable(() => store.append(`s-${n}`, [fact], "none"))),
    );
    for (let cuts = 0; cuts < 3; cuts++) {
      node.faults.killConnections();
      await retryWhileUnavailable(() => store.eventAt(0));
    }
    await appends;
    const delivered = (await retryWhileUnavailable(() => readLog(store, { prefixes: ["s-"] }))).map(
      ({ id }) => id,
    );
    expect(delivered.toSorted()).to.deep.equal(ids(facts).toSorted());
  });

  it("rejects a ping while appends are not completed, although reads are", async () => {
    await store.append("s", [event()], "none");
    await store.ping();
    node.faults.freezeAppends();
    await expectUnavailable(() => store.append("s", [event()], 0));
    expect(await read(store, "s")).to.have.length(1);
    await expectUnavailable(() => store.ping());
    node.faults.thawAppends();
    await retryWhileUnavailable(() => store.ping());
  });

  it("keeps one event of its pings, which subscriptions without prefixes skip", async () => {
    const probing = await openEventStoreDB({ url: node.url });
    for (let pings = 0; pings < 3; pings++) {
      node.faults.refuse(14);
      await expectUnavailable(() => probing.append("s", [event()], "none"));
      node.faults.accept();
      await retryWhileUnavailable(() => probing.ping());
    }
    expect(await read(probing, "health")).to.have.length(1);
    expect(await readLog(probing)).to.deep.equal([]);
    await probing.close();
  });

  it("is unavailable while the server is down, and recovers with it", () =>
    withTemporaryFolder(async (folder) => {
      const dataFile = `${folder}/log`;
      const first = await startEventStoreDBNode({ dataFile });
      const other = await openEventStoreDB({ url: first.url, ...quick });
      await other.append("s", [event()], "none");
      await first.close();
      await expectUnavailable(() => other.append("s", [event()], 0));
      await expectUnavailable(() => other.ping());
      const second = await startEventStoreDBNode({ dataFile, port: first.port });
      await retryWhileUnavailable(() => other.append("s", [event()], 0));
      expect(await retryWhileUnavailable(() => read(other, "s"))).to.have.length(2);
      await other.close();
      await second.close();
    }));

  it("is unavailable if the server is down at the first append", async () => {
    await node.close();
    await expectUnavailable(() => store.append("s", [event()], "none"));
    node = await startEventStoreDBNode({ port: node.port });
    await retryWhileUnavailable(() => store.append("s", [event()], "none"));
  });

  it("connects to the leader that a follower names", async () => {
    const leader = await startEventStoreDBNode();
    await store.append("s", [event()], "none");
    node.faults.notLeaderOnce({ host: "127.0.0.1", port: leader.port });
    const fact = event();
    await expectUnavailable(() => store.append("led", [fact], "none"));
    await retryWhileUnavailable(() => store.append("led", [fact], "none"));
    const there = await openEventStoreDB({ url: leader.url, ...quick });
    expect(ids(await read(there, "led"))).to.deep.equal([fact.id]);
    await there.close();
    await leader.close();
  });

  it("reads from the leader that a follower names", async () => {
    const leader = await startEventStoreDBNode();
    const there = await openEventStoreDB({ url: leader.url, ...quick });
    const fact = event();
    await there.append("led", [fact], "none");
    const stream = () => read(store, "led");
    const log = () => readLog(patient, { prefixes: ["led"] });
    for (const readThere of [stream, log]) {
      node.faults.notLeaderOnce({ host: "127.0.0.1", port: leader.port });
      await expectUnavailable(readThere);
      expect(ids(await retryWhileUnavailable(readThere))).to.deep.equal([fact.id]);
    }
    await there.close();
    await leader.close();
  });

  it("appends although this machine's clock is behind the server's", async () => {
    const ahead = await startEventStoreDBNode({ clock: () => Date.now() + 3_600_000 });
    const other = await openEventStoreDB({ url: ahead.url, ...quick });
    await other.append("s", [event()], "none");
    expect(await read(other, "s")).to.have.length(1);
    await other.close();
    await ahead.close();
  });

  it("reads the position of a repeat if an older server's response lacks it", async () => {
    const facts = eventsOf(3);
    const first = await store.append("s", facts, "none");
    node.faults.leavePositionsOut();
    expect(await store.append("s", facts, "none")).to.deep.equal(first);
  });

  it("with an exact revision, recognises a repeat after the server has forgotten the ids", async () => {
    const facts = eventsOf(3);
    const first = await store.append("s", facts, "none");
    node.faults.forgetIds();
    expect(await store.append("s", facts, "none")).to.deep.equal(first);
  });

  it("rejects appends in progress when it is closed, within their timeout", async () => {
    const appends = await inFlight(5);
    await store.close();
    for (const append of appends) await expectUnavailable(() => append);
  });

  it("ignores a response to an append that it no longer waits for", async () => {
    node.faults.repeatResponses(2);
    for (const stream of ["a", "b", "c"]) await store.append(stream, [event()], "none");
    expect(await readLog(store)).to.have.length(3);
  });

  it("writes correlation and causation under the server's names", async () => {
    const metadata = { correlationId: "c", causationId: "d", actor: "cli", traceparent: "00-a-b-01" };
    await store.append("s", [{ ...event(), metadata }], "none");
    const raw = EventStoreDBClient.connectionString(node.url);
    for await (const { event: seen } of raw.readStream("s")) {
      const { correlationId: $correlationId, causationId: $causationId, ...rest } = metadata;
      expect(seen?.metadata).to.deep.equal({ ...rest, $correlationId, $causationId });
    }
    await raw.dispose();
    expect((await read(store, "s"))[0]?.metadata).to.deep.equal(metadata);
  });
});
