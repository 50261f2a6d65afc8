import { randomUUID } from "node:crypto";
import { expect } from "chai";
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
});
