import { expect } from "chai";
import { createCountServings } from "../../../src/application/audio/audio-servings.ts";
import { systemTime } from "../../../src/async/time.ts";
import { Archived, Invalid } from "../../../src/domain/errors.ts";
import { NotGenuine } from "../../../src/domain/ledger/proof/not-genuine.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { createUsageReader } from "../../../src/ledger/accounts/usage-reader.ts";
import type { SeekableArchive } from "../../../src/ledger/archive/indexed-archive.ts";
import { withArchivedJournals } from "../../../src/ledger/archive/with-archived-journals.ts";
import { createAudit } from "../../../src/ledger/audit/audit.ts";
import { auditFormats, auditText } from "../../../src/ledger/audit/audit-format.ts";
import { createCountEvents } from "../../../src/ledger/audit/event-counts.ts";
import { createEventLog } from "../../../src/ledger/audit/event-log.ts";
import { createKeyMonthExport } from "../../../src/ledger/proof/key-month-export.ts";
import { createChargeReader } from "../../../src/ledger/reports/charges-between.ts";
import { createDailyUsage } from "../../../src/ledger/reports/daily-usage.ts";
import { createReportQueue } from "../../../src/ledger/reports/report-queue.ts";
import { createUsageBuckets } from "../../../src/ledger/reports/usage-buckets.ts";
import { createUsageReport } from "../../../src/ledger/reports/usage-report.ts";
import { collect } from "../../support/collect.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { sealing, signer } from "../proof/sealed-store.ts";
import {
  archiveFile,
  archiving,
  clock,
  createMemoryFile,
  deleteJournals,
  type OpenedStore,
  start,
  stores,
  writeOldJournals,
} from "./old-journals.ts";

const dayMs = 24 * 60 * 60_000;
const later = clock() + 200 * dayMs;
const { signal } = new AbortController();

/** The file in memory, as it is read at any place. */
const seekable = (content: Buffer): SeekableArchive => ({
  ...archiveFile(content),
  read: async (offset, length) => content.subarray(offset, offset + length),
});

/** Each report of a store by its name, as text. */
const reportsOf = (store: EventStore) => {
  const keys = () => ["k1", "k2"].map((apiKey) => ({ apiKey, websiteId: "w1" }));
  const queue = createReportQueue();
  const now = () => later;
  const audit = createAudit({ store, clock: now });
  const text = async (
    request: Parameters<typeof audit>[0],
    format: (typeof auditFormats)[number] = "ndjson",
  ) => (await collect(auditText(audit(request), format))).join("");
  const reportUsage = createUsageReport({ store, accounts: createUsageReader({ store }), clock: now });
  const reportUsageBuckets = createUsageBuckets({
    readCharges: createChargeReader({ store }),
    queue,
    keys: (apiKey) => keys().filter((key) => key.apiKey === (apiKey ?? key.apiKey)),
    clock: now,
  });
  const fromInclusive = Date.parse("2026-01-05T00:00:00.000Z") / 1_000;
  const buckets = (width: "1h" | "1d") =>
    reportUsageBuckets({
      ...{ fromInclusive, toExclusive: fromInclusive + 86_400, width, signal },
      groupBy: ["api_key_id", "model"],
    });
  const period = { from: "2026-01-05", to: "2026-01-06" };
  const eventLog = createEventLog({ store, clock: now, time: systemTime });
  const countEvents = createCountEvents({ store, queue, clock: now });
  const countServings = createCountServings({ store, queue, clock: now });
  return {
    /** These need single servings. */
    servings: {
      ...Object.fromEntries(
        auditFormats.map((format) => [`audit as ${format}`, () => text({}, format)] as const),
      ),
      "audit of a period": () => text(period),
      "audit of a type": () => text({ type: "ServingVoided" }),
      "audit of a stream": () => text({ stream: "journal-old-2" }),
      "audit of a request": () => text({ request: "r" }),
      "audit of a key": () => text({ apiKey: "k1" }),
      "audit of a voided key": () => text({ apiKey: "k2", ...period }),
      "usage as of a time": () =>
        reportUsage({ apiKey: "k1", month: "2026-01", asOf: "2026-01-05T10:00:07Z" }),
      "usage by hour": () => buckets("1h"),
      "page of events": () => eventLog.page({ limit: 500, signal }),
      "page of a key's events": () => eventLog.page({ apiKey: "k1", limit: 500, signal }),
      "page of new events": () =>
        eventLog.page({ after: { position: 1 }, limit: 500, waitMs: 25_000, signal }),
      "count of events": () => countEvents({ ...period, signal }),
      "count of a key's events": () => countEvents({ ...period, apiKey: "k1", signal }),
      "count of sounds": async () => {
        const { sounds, ...counted } = await countServings({ ...period, signal });
        return { ...counted, sounds: [...sounds] };
      },
    },
    /** These do not. */
    totals: {
      "audit of another type": () => text({ type: "UsagePosted" }),
      "audit of another stream": () => text({ stream: "usage-" }),
      "audit of a key's postings": () => text({ apiKey: "k1", type: "UsagePosted" }),
      "audit of a later period": () => text({ from: "2026-03-01" }),
      "audit of an earlier period": () => text({ to: "2025-12-01" }),
      "audit of a key in an earlier period": () => text({ apiKey: "k1", to: "2025-12-01" }),
      usage: () => reportUsage({ apiKey: "k2", month: "2026-01" }),
      "usage as of an earlier time": () =>
        reportUsage({ apiKey: "k1", month: "2026-01", asOf: "2026-01-02" }),
      "usage by day": () => buckets("1d"),
      "usage of a day": () => createDailyUsage({ reportUsageBuckets, clock: now })("2026-01-05"),
      "count of a later day": () => countEvents({ from: "2026-03-01", to: "2026-03-02", signal }),
      "count of later sounds": async () => {
        const { asOfPosition, ...counted } = await countServings({
          from: "2026-03-01",
          to: "2026-03-02",
          signal,
        });
        return { ...counted, sounds: [...counted.sounds] };
      },
    },
  };
};

type Reports = Readonly<Record<string, () => Promise<unknown>>>;

/** EventStoreDB records a deletion in the log, whose end is therefore later. */
const ends = new Set(["asOfPosition", "next"]);

const textsOf = async (reports: Reports): Promise<Record<string, string>> => {
  const texts: Record<string, string> = {};
  for (const [name, report] of Object.entries(reports))
    texts[name] = JSON.stringify(await report(), (member, value) => (ends.has(member) ? undefined : value));
  return texts;
};

for (const [name, open] of Object.entries(stores)) {
  describe(`reports after archived journals were deleted on ${name}`, () => {
    let opened: OpenedStore;
    let content: Buffer;
    let file: string;
    let recorded: { servings: Record<string, string>; totals: Record<string, string> };

    before(async () => {
      opened = await open();
      const sealed = sealing(opened.store, start);
      await writeOldJournals(sealed);
      const memory = createMemoryFile();
      const { archive } = archiving(sealed, opened.store, later);
      ({ file } = await archive({ before: "2026-02", file: memory }, { actor: "cli" }));
      content = memory.content;
      const { servings, totals } = reportsOf(opened.store);
      recorded = { servings: await textsOf(servings), totals: await textsOf(totals) };
      await deleteJournals(opened.store, ["old-1", "old-2", "old-3"]);
    });
    after(() => opened.close());

    it("are the same if they need no single servings", async () => {
      expect(await textsOf(reportsOf(opened.store).totals)).to.deep.equal(recorded.totals);
    });

    it("are refused with the digest of the file if they need single servings", async () => {
      for (const [report, read] of Object.entries(reportsOf(opened.store).servings)) {
        const error = await read().catch((reason) => reason);
        if (!(error instanceof Archived)) throw new Error(`${report} is not refused`, { cause: error });
        for (const part of error.archives) {
          expect(part, report).to.include({ file });
          expect(part.months, report).to.deep.equal(["2026-01"]);
        }
      }
      const error = await rejection(reportsOf(opened.store).servings["audit of a period"]?.());
      expect(error).to.have.property(
        "message",
        `The log no longer has single servings of this request: 3 journals of 2026-01 are in the archive with the SHA-256 ${file}.`,
      );
    });

    it("are the same with the file, byte for byte", async () => {
      const store = await withArchivedJournals(opened.store, [seekable(content)]);
      const { servings, totals } = reportsOf(store);
      expect(await textsOf(servings)).to.deep.equal(recorded.servings);
      opened.scavenge();
      expect(await textsOf(servings)).to.deep.equal(recorded.servings);
      expect(await textsOf(totals)).to.deep.equal(recorded.totals);
    });

    it("continue an audit with the file", async () => {
      const store = await withArchivedJournals(opened.store, [seekable(content)]);
      const audit = createAudit({ store, clock: () => later });
      for (const apiKey of [undefined, "k1"]) {
        const entries = await collect(audit({ apiKey }));
        for (const number of [0, 3, 4, 5, entries.length - 1]) {
          const { position, index } = entries[number] as (typeof entries)[number];
          const rest = await collect(audit({ apiKey, after: { position, index } }));
          expect(rest).to.deep.equal(entries.slice(number + 1));
        }
      }
    });

    it("serve pages that end before the first deleted journal was opened", async () => {
      const eventLog = createEventLog({ store: opened.store, time: systemTime });
      const page = await eventLog.page({ limit: 1, signal });
      expect(page.entries.map(({ stream }) => stream)).to.deep.equal(["key-k1"]);
    });

    it("are refused as of the position of a deleted event", async () => {
      const store = await withArchivedJournals(opened.store, [seekable(content)]);
      const [serving] = await collect(createAudit({ store })({ apiKey: "k1", type: "SynthesisServed" }));
      opened.scavenge();
      const reportAt = (asOfPosition: number) =>
        createUsageReport({ ...opened, accounts: createUsageReader(opened), clock: () => later })({
          apiKey: "k1",
          month: "2026-01",
          asOfPosition,
        });
      expect(await rejection(reportAt(serving?.position ?? -1))).to.be.instanceOf(Archived);
      expect(await rejection(reportAt(1e9))).to.be.instanceOf(Invalid);
    });

    it("refuse the proof of a month before its first line", async () => {
      const { seals } = sealing(opened.store, start);
      const exported = createKeyMonthExport({
        ...{ store: opened.store, signer, clock: () => later },
        seals: { ...seals, sealIfDue: async () => 0 },
      });
      const lines = exported({ apiKey: "k1", month: "2026-01" })[Symbol.asyncIterator]();
      expect(await rejection(lines.next())).to.be.instanceOf(Archived);
    });

    it("refuse a file that was changed, before or after it was opened", async () => {
      const forged = Buffer.from(content.toString().replace('"characters":[12,30]', '"characters":[12,31]'));
      const error = await rejection(withArchivedJournals(opened.store, [seekable(forged)]));
      expect(error)
        .to.be.instanceOf(NotGenuine)
        .with.property("message")
        .that.includes("no sealed archive has");
      let current = content;
      const store = await withArchivedJournals(opened.store, [
        { ...seekable(content), read: async (offset, length) => current.subarray(offset, offset + length) },
      ]);
      current = forged;
      expect(await rejection(textsOf({ audit: () => collect(createAudit({ store })({})) }))).to.be.instanceOf(
        NotGenuine,
      );
    });
  });
}

describe("the proof of a month", () => {
  it("fails if a journal is deleted while it is read", async () => {
    const { store, remove } = await openTemporaryStore(clock);
    try {
      const sealed = sealing(store, start);
      await writeOldJournals(sealed);
      const { archive } = archiving(sealed, store, later);
      await archive({ before: "2026-02", file: createMemoryFile() }, { actor: "cli" });
      let deletes = false;
      const changing: EventStore = {
        ...store,
        async *readStream(stream, options) {
          if (deletes && stream === "journal-old-2" && options?.fromInclusive === 1)
            await deleteJournals(store, ["old-2"]);
          yield* store.readStream(stream, options);
        },
      };
      const prove = createKeyMonthExport({
        ...{ store: changing, signer, clock: () => later },
        seals: { ...sealed.seals, sealIfDue: async () => 0 },
      });
      const request = { apiKey: "k1", month: "2026-01" };
      expect((await collect(prove(request))).join("")).to.include("journal-old-2");
      deletes = true;
      expect(await rejection(collect(prove(request)))).to.be.instanceOf(Archived);
    } finally {
      await remove();
    }
  });
});
