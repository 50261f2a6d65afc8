import { expect } from "chai";
import fc from "fast-check";
import { Invalid, NotFound, Unavailable } from "../../../src/domain/errors.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { type AuditRequest, createAudit } from "../../../src/ledger/audit/audit.ts";
import type { AuditEntry } from "../../../src/ledger/audit/audit-entries.ts";
import { collect } from "../../support/collect.ts";
import { append, busyMonth, issued } from "../../support/logged-events.ts";
import { rejection } from "../../support/rejection.ts";
import { countSubscriptions } from "../../support/subscription-counter.ts";
import { openTemporaryStore, type TemporaryStore } from "../../support/temporary-store.ts";

describe("an audit", () => {
  let temporary: TemporaryStore;
  const opened: TemporaryStore[] = [];
  const openStore = async (): Promise<void> => {
    temporary = await openTemporaryStore();
    opened.push(temporary);
  };
  after(() => Promise.all(opened.map((each) => each.remove())));

  const replay = async (request: AuditRequest = {}): Promise<AuditEntry[]> =>
    collect(createAudit({ store: temporary.store })(request));

  describe("of a busy log", () => {
    const events = busyMonth(5_000);
    const audited = events.filter(({ stream }) => !stream.startsWith("rate-"));

    before(async () => {
      await openStore();
      await append(temporary.store, events);
    });

    it("contains everything except the rate counters, in order of position", async () => {
      const entries = await replay();
      expect(entries.map(({ stream, type, at }) => ({ stream, type, at }))).to.deep.equal(
        audited.map(({ stream, type, data }) => {
          const entry = type === "SynthesesServed" ? "SynthesisServed" : type;
          return { stream, type: entry, at: (data as { at: string }).at };
        }),
      );
      expect(entries.every(({ position }, i) => position > (entries[i - 1]?.position ?? -1))).to.equal(true);
      expect(revisionsOf(entries)).to.deep.equal(denseRevisionsOf(entries));
    });

    it("of one request contains only what was recorded for it", async () => {
      const all = await replay();
      const served = all.filter(({ type }) => type === "SynthesisServed");
      const request = served[served.length >> 1]?.metadata.correlationId ?? "";
      const own = await replay({ request });
      expect(own).to.deep.equal(all.filter(({ metadata }) => metadata.correlationId === request));
      expect(own.map(({ data }) => (data as { requestId: string }).requestId)).to.include(request);
      expect(await replay({ request: "of no request" })).to.deep.equal([]);
    });

    it("of one key contains only that key's entries, not those of a key with the same prefix", async () => {
      const entries = await replay({ apiKey: "ab" });
      expect(new Set(entries.map(({ stream }) => stream))).to.deep.equal(new Set(["key-ab", "journal-j1"]));
      expect(entries).to.have.length(
        audited.filter(({ stream, data }) => stream === "key-ab" || isServed(data, "ab")).length,
      );
    });

    it("of one key reads only that key's streams and unposted revisions, without a subscription", async () => {
      const reads = new Map<string, number>();
      let eventsRead = 0;
      const store: EventStore = {
        ...temporary.store,
        async *readStream(stream, options) {
          reads.set(stream, (reads.get(stream) ?? 0) + 1);
          for await (const event of temporary.store.readStream(stream, options)) {
            eventsRead += 1;
            yield event;
          }
        },
        subscribe: () => expect.fail("an audit of one key subscribed"),
      };
      const clock = () => Date.parse("2026-11-05T10:00:00.000Z");
      await collect(createAudit({ store, clock })({ apiKey: "ab" }));
      const months = ["2026-09", "2026-10", "2026-11", "2026-12"].map((month) => `usage-ab-${month}`);
      expect([...reads.keys()].sort()).to.deep.equal(["journal-j1", "journals", "key-ab", "log", ...months]);
      expect(Math.max(...reads.values())).to.be.at.most(6);
      const journalled = audited.filter(({ stream }) => stream === "journal-j1").length;
      expect(eventsRead).to.be.at.most(journalled * 2 + 3 * reads.size);
    });

    it("contains each entry exactly once when it is split at midnight", async () => {
      const first = await replay({ to: "2026-10-04" });
      const second = await replay({ from: "2026-10-04" });
      expect([...first, ...second]).to.deep.equal(await replay());
      expect(first.at(-1)?.at).to.equal("2026-10-03T23:59:00.000Z");
      expect(second[0]?.at).to.equal("2026-10-04T00:00:00.000Z");
    });

    it("reads the log with backpressure and closes the subscription when the reader stops", async () => {
      const watched = countSubscriptions(temporary.store);
      let read = 0;
      let deliveredAtFirst = 0;
      for await (const _ of createAudit({ store: watched })({})) {
        deliveredAtFirst ||= watched.delivered;
        if (++read === 3) break;
        expect(watched.open).to.equal(1);
      }
      expect(watched.delivered).to.equal(deliveredAtFirst).and.below(events.length);
      expect(watched.open).to.equal(0);
    });
  });

  describe("resumed", () => {
    it("at any positions contains each entry exactly once", async () => {
      await openStore();
      await append(temporary.store, busyMonth(400));
      const whole = await replay();
      const cuts = fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(cuts, fc.constantFrom(undefined, "ab"), async (lengths, apiKey) => {
          const parts: AuditEntry[] = [];
          for (const length of [...lengths, Number.POSITIVE_INFINITY]) {
            const part = createAudit({ store: temporary.store })({ apiKey, after: parts.at(-1) });
            let read = 0;
            for await (const entry of part) {
              parts.push(entry);
              if (++read === length) break;
            }
          }
          expect(parts).to.deep.equal(
            whole.filter(
              ({ stream, data }) => apiKey === undefined || stream === "key-ab" || isServed(data, apiKey),
            ),
          );
        }),
        { numRuns: 40 },
      );
    });

    it("after the last entry is empty", async () => {
      await openStore();
      const position = await append(temporary.store, issued("ab"));
      expect(await replay({ after: { position } })).to.deep.equal([]);
    });
  });

  describe("of a period", () => {
    const at = (time: string) => ({
      stream: "website-w1",
      type: "WebsiteRenamed",
      data: { name: "n", at: time },
    });
    const times = ["2026-10-31T23:59:59.999Z", "2026-11-01T00:00:00.000Z", "2026-11-01T08:30:00.000Z"];

    beforeEach(async () => {
      await openStore();
      await append(temporary.store, times.map(at));
    });

    const cases: [Pick<AuditRequest, "from" | "to">, (string | undefined)[]][] = [
      [{ from: "2026-11-01" }, times.slice(1)],
      [{ to: "2026-11-01" }, times.slice(0, 1)],
      [{ from: "2026-11-01T08:30:00Z" }, times.slice(2)],
      [{ from: "2026-11-01T08:30:00.001Z" }, []],
      [{ from: "2026-11-01", to: "2026-11-01T09:30:00+01:00" }, times.slice(1, 2)],
      [{ from: "2026-10-31T23:59:59.999Z", to: "2026-11-01T00:00:00.001Z" }, times.slice(0, 2)],
      [{ from: "2026-11-02", to: "2026-11-01" }, []],
    ];
    for (const [period, expected] of cases) {
      it(`includes its start and excludes its end: ${JSON.stringify(period)}`, async () => {
        expect((await replay(period)).map((entry) => entry.at)).to.deep.equal(expected);
      });
    }

    for (const bad of [
      "",
      "yesterday",
      "2026-11",
      "2026-02-30",
      "2026-11-01T08:30:00",
      "1762000000",
      "2026-11-01 08:30Z",
    ]) {
      it(`refuses ${JSON.stringify(bad)} at once, with the path in the error`, () => {
        const audit = createAudit({ store: temporary.store });
        expect(() => audit({ from: bad, to: bad }))
          .to.throw(Invalid)
          .with.nested.property("problems")
          .that.satisfies(
            (problems: Invalid["problems"]) => problems.map(({ path }) => path[0]).join() === "from,to",
          );
      });
    }
  });

  it("withholds the hashes of secrets", async () => {
    await openStore();
    await append(temporary.store, issued("ab"));
    const entries = await replay();
    expect(entries.map(({ type }) => type)).to.deep.equal(["KeyIssued", "SecretCreated"]);
    expect(entries[1]?.data).to.include({ secretId: "s1", hash: "[withheld]" });
    expect(JSON.stringify(entries)).to.not.include("5ec2e7");
  });

  it("withholds encrypted credentials", async () => {
    await openStore();
    const data = { engine: "gwn", ciphertext: "v1.5ea1ed", keyId: "k1", at: "2026-10-01T00:00:00.000Z" };
    const stream = "credentials-web_1";
    await append(temporary.store, [
      { stream, type: "CredentialsSet", data: { ...data, provider: "google", voices: [] } },
      { stream, type: "CredentialsReencrypted", data },
    ]);
    const entries = await replay();
    for (const entry of entries) expect(entry.data).to.include({ engine: "gwn", ciphertext: "[withheld]" });
    expect(JSON.stringify(entries)).to.not.include("5ea1ed");
  });

  it("uses the time of storage for an event without its own time", async () => {
    await openStore();
    await append(temporary.store, [{ stream: "catalog", type: "Older", data: {} }]);
    const [entry] = await replay({ from: "2020-01-01" });
    expect(entry).to.include({ stream: "catalog", revision: 0 });
    expect(new Date(entry?.at ?? "").toISOString()).to.equal(entry?.at);
  });

  it("is empty for an empty log", async () => {
    await openStore();
    expect(await replay()).to.deep.equal([]);
  });

  it("is refused for a key that was never issued", async () => {
    await openStore();
    await append(temporary.store, issued("abc"));
    expect(await rejection(replay({ apiKey: "ab" }))).to.be.instanceOf(NotFound);
  });

  it("fails if it cannot reach the log's end", async () => {
    await openStore();
    await append(temporary.store, busyMonth(5_000));
    const entries = createAudit({ store: temporary.store })({})[Symbol.asyncIterator]();
    await entries.next();
    await temporary.store.close();
    const rest = collect({ [Symbol.asyncIterator]: () => entries });
    expect(await rejection(rest)).to.be.instanceOf(Unavailable);
  });

  it("fails with the abort reason when it is aborted", async () => {
    await openStore();
    await append(temporary.store, busyMonth(5_000));
    const controller = new AbortController();
    const entries = createAudit({ store: temporary.store })({ signal: controller.signal })[
      Symbol.asyncIterator
    ]();
    await entries.next();
    controller.abort(new Error("enough"));
    const rest = collect({ [Symbol.asyncIterator]: () => entries });
    expect(await rejection(rest)).to.have.property("message", "enough");
  });
});

/** True if the data of an event or an entry contains a serving of the key. */
const isServed = (data: object, apiKey: string): boolean =>
  ("keys" in data && Array.isArray(data.keys) && data.keys.includes(apiKey)) ||
  ("requestId" in data && "apiKey" in data && data.apiKey === apiKey);

const revisionsOf = (entries: readonly AuditEntry[]) =>
  Map.groupBy(
    entries.map(({ stream, revision }) => ({ stream, revision })),
    ({ stream }) => stream,
  );

const denseRevisionsOf = (entries: readonly AuditEntry[]) =>
  new Map(
    [...revisionsOf(entries)].map(([stream, { length }]) => [
      stream,
      Array.from({ length }, (_, revision) => ({ stream, revision })),
    ]),
  );
