import { expect } from "chai";
import type { Principal } from "../../src/application/access/principal.ts";
import { issueKey, keyDecider, keyStream } from "../../src/domain/accounts/key.ts";
import { KeyIsSuspended } from "../../src/domain/errors.ts";
import { idempotencyMs } from "../../src/domain/ledger/idempotency.ts";
import type { Receipt } from "../../src/domain/ledger/journal/serving.ts";
import { createCommandHandler } from "../../src/eventstore/command-handler.ts";
import { type EventStore, EventStoreUnavailable } from "../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import type { NewIdempotentServing } from "../../src/ledger/ledger.ts";
import type { OpenLedger } from "../../src/ledger/open-ledger.ts";
import { collect } from "../support/collect.ts";
import { duringTest } from "../support/during.ts";
import { startEventStoreDBNode } from "../support/eventstoredb-node/node.ts";
import { createManualTime, type ManualTime } from "../support/manual-time.ts";
import { testPrincipal } from "../support/principal.ts";
import { rejection } from "../support/rejection.ts";
import { servedAudio } from "../support/served-audio.ts";
import { openTemporaryStore } from "../support/temporary-store.ts";
import { openTestLedger, readLedger } from "../support/test-ledger.ts";

const start = Date.parse("2026-11-21T10:00:00.000Z");
const never = new AbortController().signal;
const principal = testPrincipal();

/** Parts of articles of the website `w`, of 10 characters each, as one request has them. */
const partsOf = (requestId: string, names: string): NewIdempotentServing[] =>
  [...names].map((name, index) => ({
    ...servedAudio({ requestId: `${requestId}-${index}`, hash: name.repeat(64), characters: 10 }),
    idempotency: { key: name, request: name, website: "w" },
  }));

const openNode = async () => {
  const node = await startEventStoreDBNode();
  const store = await openEventStoreDB({ url: node.url });
  const remove = async (): Promise<void> => {
    await store.close();
    await node.close();
  };
  return { store, remove };
};

for (const [kind, openStore] of [
  ["SQLite", openTemporaryStore],
  ["EventStoreDB", openNode],
] as const) {
  describe(`servings that are recorded once (${kind})`, () => {
    const stored = duringTest<Pick<Awaited<ReturnType<typeof openNode>>, "store" | "remove">>(openStore);
    let ledgers: OpenLedger[];
    /** The process that was killed. */
    let gone: OpenLedger | undefined;
    let now: number;

    beforeEach(() => {
      ledgers = [];
      gone = undefined;
      now = start;
    });
    afterEach(async () => {
      for (const each of ledgers) await each.close(0);
    });

    const open = async (store: EventStore = stored.store, time?: ManualTime): Promise<OpenLedger> => {
      const clock = () => now + (time?.now() ?? 0);
      const opened = await openTestLedger(store, clock, { onError: () => {}, ...(time && { time }) });
      ledgers.push(opened);
      return opened;
    };
    const record = (
      { ledger }: OpenLedger,
      requestId: string,
      names: string,
      by: Principal = principal,
    ): Promise<Receipt[]> => ledger.recordOnce(by, partsOf(requestId, names), never);

    /** The charged characters by name, and the number of voids. */
    const charges = async (): Promise<{ byName: Record<string, number>; voids: number }> => {
      await Promise.all(ledgers.filter((each) => each !== gone).map((each) => each.drained()));
      const { servings, voided } = await readLedger(stored.store);
      const byName: Record<string, number> = {};
      const add = (hash: string, characters: number): void => {
        const name = hash.slice(0, 1);
        byName[name] = (byName[name] ?? 0) + characters;
      };
      for (const { hash, characters } of servings) add(hash, characters);
      for (const { hash, characters } of voided) add(hash, -characters);
      return { byName, voids: voided.length };
    };

    it("are charged once for 50 requests at once to two processes, without a void", async () => {
      const processes = [await open(), await open()] as const;
      const recorded = await Promise.all(
        Array.from({ length: 50 }, (_, n) => record(processes[n % 2] as OpenLedger, `r-${n}`, "abcdef")),
      );
      expect(recorded.flat()).to.have.length(6);
      expect(await charges()).to.deep.equal({
        byName: { a: 10, b: 10, c: 10, d: 10, e: 10, f: 10 },
        voids: 0,
      });
    });

    it("are charged once if requests share only some of them", async () => {
      const processes = [await open(), await open()] as const;
      const requests = ["abc", "bcd", "cde", "dea", "eab", "bd", "ce"];
      await Promise.all(requests.map((names, n) => record(processes[n % 2] as OpenLedger, `r-${n}`, names)));
      const { byName } = await charges();
      expect(byName).to.deep.equal({ a: 10, b: 10, c: 10, d: 10, e: 10 });
    });

    it("are charged to one key for all keys of the website, however late a request repeats them", async () => {
      const process = await open();
      expect(await record(process, "r-1", "ab")).to.have.length(2);
      expect(await record(process, "r-2", "ab", testPrincipal({ apiKey: "other" }))).to.deep.equal([]);
      now += 9 * idempotencyMs;
      expect(await record(process, "r-3", "abc")).to.have.length(1);
      expect((await charges()).byName).to.deep.equal({ a: 10, b: 10, c: 10 });
    });

    it("are not charged if they exceed the quota together, and the key is suspended", async () => {
      const limited = testPrincipal({ monthlyCharacters: 45 });
      const handler = createCommandHandler({ store: stored.store, clock: () => now });
      const issued = { apiKey: "k", websiteId: "w", plan: limited.plan, at: new Date(now).toISOString() };
      await handler.execute(keyDecider, keyStream("k"), (key) => issueKey(key, issued), {});
      const processes = [await open(), await open()] as const;
      await record(processes[0], "r-1", "ab", limited);
      const refused = processes.map((each, n) => rejection(record(each, `r-${n + 2}`, "abcde", limited)));
      for (const refusal of await Promise.all(refused)) expect(refusal).to.be.instanceOf(KeyIsSuspended);
      expect((await charges()).byName).to.deep.equal({ a: 10, b: 10 });
      // The refused request holds nothing: others fit.
      expect(await record(processes[1], "r-4", "abcd", limited)).to.have.length(2);
    });

    it("are charged again after a void", async () => {
      const process = await open();
      const [receipt] = await record(process, "r-1", "a");
      void process.ledger.voidServing(receipt as Receipt);
      await process.drained();
      expect(await record(process, "r-2", "a")).to.have.length(1);
      expect(await charges()).to.deep.equal({ byName: { a: 10 }, voids: 1 });
    });

    it("take one claim for all of them, and one event for each", async () => {
      await record(await open(), "r-1", "bac");
      const typesOf = async (name: string) =>
        (await collect(stored.store.readStream(`idempotency-w-${name}`))).map(({ type }) => type);
      expect(await typesOf("a")).to.deep.equal(["IdempotencyKeyClaimed", "IdempotencyKeyUsed"]);
      for (const name of ["b", "c"]) expect(await typesOf(name)).to.deep.equal(["IdempotencyKeyUsed"]);
    });

    describe("by a process that is killed", () => {
      /** From then on, no append of the process arrives for which this is true. */
      let isLost: (stream: string) => boolean;
      let lost: PromiseWithResolvers<void>;
      beforeEach(() => {
        isLost = () => false;
        lost = Promise.withResolvers();
      });
      const mortal = (): EventStore => ({
        ...stored.store,
        append: async (stream, events, expected) => {
          if (!isLost(stream)) return await stored.store.append(stream, events, expected);
          lost.resolve();
          throw new EventStoreUnavailable("the process is gone");
        },
      });
      /** Calls of the event store without a response. */
      let calls = 0;
      const inStore = async <T>(call: () => Promise<T>): Promise<T> => {
        calls++;
        return await call().finally(() => calls--);
      };
      const counted = (): EventStore => ({
        ...stored.store,
        append: (...request) => inStore(() => stored.store.append(...request)),
        readStream: async function* (...request) {
          yield* await inStore(() => collect(stored.store.readStream(...request)));
        },
      });
      /** Lets time pass in a process, between its calls of the store, until the promise settles. */
      const passUntil = async <T>(time: ManualTime, promise: Promise<T>): Promise<T> => {
        let isSettled = false;
        const settle = (): void => {
          isSettled = true;
        };
        promise.then(settle, settle);
        for (let turns = 0; !isSettled; turns++) {
          await new Promise(setImmediate);
          if (calls > 0) turns = 0;
          else if (turns % 10 === 9) time.advance(100);
        }
        return await promise;
      };

      it("between the claim and the record are charged once, by the next request", async () => {
        gone = await open(mortal());
        isLost = (stream) => stream.startsWith("journal-");
        record(gone, "r-1", "abc").catch(() => {});
        await lost.promise;
        isLost = () => true;
        const time = createManualTime();
        const receipts = await passUntil(time, record(await open(counted(), time), "r-2", "abc"));
        expect(receipts).to.have.length(3);
        expect(await charges()).to.deep.equal({ byName: { a: 10, b: 10, c: 10 }, voids: 0 });
      });

      it("between the record and its note are charged once, when its journal is recovered", async () => {
        gone = await open(mortal());
        const [{ journal }] = (await record(gone, "r-0", "x")) as [Receipt];
        isLost = (stream) => stream === "idempotency-w-b";
        record(gone, "r-1", "abc").catch(() => {});
        await lost.promise;
        isLost = () => true;
        const time = createManualTime();
        const next = await open(counted(), time);
        await passUntil(time, record(next, "r-2", "abc"));
        await passUntil(time, next.recoverJournal(journal));
        expect((await charges()).byName).to.deep.equal({ x: 10, a: 10, b: 10, c: 10 });
        expect(await record(next, "r-3", "abc")).to.deep.equal([]);
      });
    });
  });
}
