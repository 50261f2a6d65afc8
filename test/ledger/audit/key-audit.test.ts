import { expect } from "chai";
import fc from "fast-check";
import { journalStream } from "../../../src/domain/ledger/journal/journal.ts";
import { journalRegistryStream } from "../../../src/domain/ledger/journal/journal-registry.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { type AuditRequest, createAudit } from "../../../src/ledger/audit/audit.ts";
import type { AuditEntry } from "../../../src/ledger/audit/audit-entries.ts";
import { createJournalRegistry } from "../../../src/ledger/journal/journal-registry.ts";
import { createJournalAppender } from "../../support/append-to-journal.ts";
import { servingsVoided, streamsEnded, synthesesServed } from "../../support/build-journal-events.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { append, issued } from "../../support/logged-events.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { openPostedJournal } from "../accounts/posted-journal.ts";
import { action, runActions } from "../accounts/random-postings.ts";

const at = "2026-11-05T10:00:00.000Z";
const clock = () => Date.parse("2026-11-30T12:00:00.000Z");

describe("an audit of journals", () => {
  const temporary = duringTest(openTemporaryStore);

  const audit = (request: AuditRequest = {}, store: EventStore = temporary.store): Promise<AuditEntry[]> =>
    collect(createAudit({ store, clock })(request));

  it("has an entry for each serving, voided serving and end of a stream", async () => {
    const log = createJournalAppender(temporary.store, "j1");
    await log.append(synthesesServed(at, [{ apiKey: "a", traceparent: "00-1-2-01" }, { apiKey: "b" }]));
    await log.append(servingsVoided(at, [{ apiKey: "b", requestId: "r-2" }]));
    await log.append(streamsEnded(at, ["a"]));
    await log.close(at);
    const entries = await audit();
    const places = entries.map(({ revision, index, type }) => [revision, index, type]);
    expect(places).to.deep.equal([
      [0, 0, "SynthesisServed"],
      [0, 1, "SynthesisServed"],
      [1, 0, "ServingVoided"],
      [2, 0, "StreamEnded"],
      [3, 0, "JournalClosed"],
    ]);
    expect(entries.map(({ stream }) => stream)).to.deep.equal(Array(5).fill("journal-j1"));
    expect(entries[0]?.data).to.include({ apiKey: "a", requestId: "r-1", characters: 11, engine: "g1" });
    const caused = { actor: "key:a", correlationId: "r-1" };
    expect(entries[0]?.metadata).to.deep.equal({ ...caused, traceparent: "00-1-2-01" });
    expect(entries[2]?.metadata).to.deep.equal({ actor: "system", correlationId: "r-2" });
    expect(entries[3]?.metadata).to.deep.equal(caused);
  });

  it("of one key contains no entry of another key", async () => {
    await append(temporary.store, issued("a"));
    const log = createJournalAppender(temporary.store, "j1");
    const books = await openPostedJournal(temporary.store, { clock });
    await books.record(synthesesServed(at, [{ apiKey: "b" }, { apiKey: "a" }, { apiKey: "ab" }]));
    await log.append(synthesesServed(at, [{ apiKey: "a" }]));
    const entries = await audit({ apiKey: "a" });
    const places = entries.map(({ stream, index, type }) => [stream, index, type]);
    expect(places).to.deep.equal([
      ["key-a", 0, "KeyIssued"],
      ["key-a", 0, "SecretCreated"],
      [journalStream(books.log.journal), 1, "SynthesisServed"],
    ]);
  });

  it("of one key reads only the revisions of closed journals that its accounts name", async () => {
    await append(temporary.store, issued("a"));
    const books = await openPostedJournal(temporary.store, { clock });
    for (let n = 0; n < 60; n++) {
      await books.record(synthesesServed(at, [{ apiKey: n === 10 || n === 50 ? "a" : "b" }]));
    }
    await books.log.close(at);
    await books.postings.close();
    const reads = new Set<number>();
    const store: EventStore = {
      ...temporary.store,
      async *readStream(stream, options) {
        for await (const event of temporary.store.readStream(stream, options)) {
          if (event.type === "SynthesesServed") reads.add(event.revision);
          yield event;
        }
      },
    };
    await createJournalRegistry(createCommandHandler({ store: temporary.store }), clock).forget(
      books.log.journal,
    );
    const entries = await audit({ apiKey: "a" }, store);
    const served = entries.filter(({ type }) => type === "SynthesisServed");
    expect(served.map(({ revision }) => revision)).to.deep.equal([10, 50]);
    expect([...reads]).to.deep.equal([10, 50]);
  });

  it("of one key misses nothing of a journal that is posted and retired meanwhile", async () => {
    await append(temporary.store, issued("a"));
    const books = await openPostedJournal(temporary.store, { clock });
    await books.record(synthesesServed(at, [{ apiKey: "a" }]));
    const retire = async (): Promise<void> => {
      await books.log.close(at);
      await books.postings.close();
      await createJournalRegistry(createCommandHandler({ store: temporary.store }), clock).forget(
        books.log.journal,
      );
    };
    let registryReads = 0;
    const store: EventStore = {
      ...temporary.store,
      async *readStream(stream, options) {
        if (stream === journalRegistryStream && ++registryReads === 2) await retire();
        yield* temporary.store.readStream(stream, options);
      },
    };
    const entries = await audit({ apiKey: "a" }, store);
    expect(entries.map(({ type }) => type)).to.deep.equal(["KeyIssued", "SecretCreated", "SynthesisServed"]);
    expect(registryReads).to.equal(2);
  });

  it("of one key equals the audit of all keys filtered by that key, uninterrupted or resumed at any entry", async () => {
    let runs = 0;
    const lengths = fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), lengths, async (actions, cuts) => {
        const prefix = `k${runs++}-`;
        const apiKey = `${prefix}a`;
        await append(temporary.store, issued(apiKey));
        await runActions(temporary.store, actions, prefix);
        const expected = (await audit()).filter((entry) => isOf(entry, apiKey));
        expect(await audit({ apiKey })).to.deep.equal(expected);
        const parts: AuditEntry[] = [];
        for (const length of [...cuts, Number.POSITIVE_INFINITY]) {
          let read = 0;
          for await (const entry of createAudit({ store: temporary.store, clock })({
            apiKey,
            after: parts.at(-1),
          })) {
            parts.push(entry);
            if (++read === length) break;
          }
        }
        expect(parts).to.deep.equal(expected);
        for (const [from, to] of [
          ["2026-11-30T22:10:00.000Z", "2026-12-01T00:30:00.000Z"],
          ["2026-12-01", "2027-01-01"],
        ]) {
          const within = expected.filter((entry) => entry.at >= String(from) && entry.at < String(to));
          expect(await audit({ apiKey, from, to })).to.deep.equal(within);
        }
      }),
      { numRuns: 15 },
    );
  });

  it("resumed within an event contains each of its entries once", async () => {
    const log = createJournalAppender(temporary.store, "j1");
    await log.append(synthesesServed(at, [{ apiKey: "a" }, { apiKey: "b" }, { apiKey: "a" }]));
    await log.close(at);
    const whole = await audit();
    for (const [n, after] of whole.entries()) {
      expect(await audit({ after })).to.deep.equal(whole.slice(n + 1));
    }
    const position = whole[0]?.position ?? 0;
    expect(await audit({ after: { position } })).to.deep.equal(whole.slice(3));
  });
});

const isOf = ({ stream, data }: AuditEntry, apiKey: string): boolean =>
  stream.startsWith("journal-")
    ? "apiKey" in data && data.apiKey === apiKey
    : stream === `key-${apiKey}` || stream.startsWith(`usage-${apiKey}-`);
