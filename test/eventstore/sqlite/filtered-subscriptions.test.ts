import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect } from "chai";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { duringSuite } from "../../support/during.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";

describe("a subscription to a few streams of a long SQLite log", () => {
  const temporary = duringSuite(openTemporaryStore);
  const prefixes = ["key-", "key-a", "web%"];

  before(async () => {
    for (let n = 0; n < 100; n++) {
      for (const [stream, count] of [
        ["usage-a", 250],
        [`key-${n % 7}`, 20],
        ["key-a\u{10ffff}\u{10ffff}", 25],
        ["web%site", 1],
        ["website", 1],
        ["kex", 1],
      ] as const) {
        const events = Array.from({ length: count }, () => ({
          ...{ id: randomUUID(), type: "Happened", data: {}, metadata: {} },
        }));
        await temporary.store.append(stream, events, "any");
      }
    }
  });

  const positions = async (options: { prefixes?: readonly string[]; fromExclusive?: number }) => {
    const found: { stream: string; position: number }[] = [];
    for await (const { events, caughtUp } of temporary.store.subscribe(options)) {
      found.push(...events.map(({ stream, position }) => ({ stream, position })));
      if (caughtUp) break;
    }
    return found;
  };

  it("delivers all their events once and in order, from any position", async () => {
    const all = await positions({});
    const wanted = all.filter(({ stream }) => prefixes.some((prefix) => stream.startsWith(prefix)));
    expect(wanted.length).to.be.above(4_096);
    for (const after of [
      0,
      1,
      wanted[2_047]?.position ?? 0,
      wanted[2_048]?.position ?? 0,
      all.at(-1)?.position ?? 0,
    ]) {
      expect(await positions({ prefixes, fromExclusive: after })).to.deep.equal(
        wanted.filter(({ position }) => position > after),
      );
    }
  });

  it("delivers live events after it caught up", async () => {
    const subscription = temporary.store.subscribe({ prefixes })[Symbol.asyncIterator]();
    while (!(await subscription.next()).value?.caughtUp);
    const event = { id: randomUUID(), type: "Happened", data: {}, metadata: {} };
    const { position } = await temporary.store.append("key-new", [event], "none");
    for (let delivered = -1; delivered !== position; ) {
      const { value } = await subscription.next();
      delivered = value?.events.at(-1)?.position ?? -1;
    }
    await subscription.return?.();
  });

  it("may deliver later what another process has appended, until a stream is read", async () => {
    const other = await openSqliteEventStore({ path: join(temporary.folder, "events.db") });
    const started = (options: { maxLagMs?: number }) =>
      temporary.store.subscribe({ prefixes: ["live-"], ...options })[Symbol.asyncIterator]();
    const [prompt, late] = [started({}), started({ maxLagMs: 3_600_000 })];
    for (const subscription of [prompt, late]) while (!(await subscription.next()).value?.caughtUp);
    const append = async (stream: string): Promise<void> => {
      const event = { id: randomUUID(), type: "Happened", data: {}, metadata: {} };
      await other.append(stream, [event], "none");
    };
    const nextStreams = async (subscription: typeof prompt): Promise<string[]> => {
      const { value } = await subscription.next();
      const found = (value?.events ?? []).map(({ stream }: { stream: string }) => stream);
      return found.length > 0 ? found : await nextStreams(subscription); // a new position only
    };
    const delivered = nextStreams(late);
    for (const stream of ["live-1", "live-2"]) {
      await append(stream);
      expect(await nextStreams(prompt)).to.deep.equal([stream]);
    }
    for await (const _ of temporary.store.readStream("live-1"));
    expect(await delivered).to.deep.equal(["live-1", "live-2"]);
    await Promise.all([prompt.return?.(), late.return?.(), other.close()]);
  });
});
