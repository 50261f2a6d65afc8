import { expect } from "chai";
import fc from "fast-check";
import { freePlan } from "../../../src/domain/accounts/plan.ts";
import { NotFound } from "../../../src/domain/errors.ts";
import { eventDigest } from "../../../src/domain/ledger/journal/canonical.ts";
import {
  createExportReader,
  createExportWriter,
  signedWith,
} from "../../../src/domain/ledger/proof/export-lines.ts";
import { type KeyMonthSummary, verifyKeyMonth } from "../../../src/domain/ledger/proof/key-month-verifier.ts";
import { NotGenuine } from "../../../src/domain/ledger/proof/not-genuine.ts";
import type { InclusionProof } from "../../../src/domain/ledger/seals/merkle-proof.ts";
import type { ProvenEvent } from "../../../src/domain/ledger/seals/proven-event.ts";
import { createKeyMonthExport } from "../../../src/ledger/proof/key-month-export.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { keys, sealing, signer, writeBusyDay } from "./sealed-store.ts";

const k1 = { apiKey: "k1", month: "2026-11" };

describe("the export of a key's month", () => {
  const temporary = duringSuite(openTemporaryStore);
  let sealed: ReturnType<typeof sealing>;
  let lines: string[];

  const exportMonth = async (request = k1): Promise<string[]> => {
    const text = await collect(
      createKeyMonthExport({ store: temporary.store, seals: sealed.seals, signer, clock: Date.now })(request),
    );
    return text.join("").split(/(?<=\n)/);
  };
  const verify = (edited: readonly string[], keyMonth = k1): Promise<KeyMonthSummary> =>
    verifyKeyMonth(inChunks(edited.join("")), keys, keyMonth);
  const problem = async (edited: readonly string[], keyMonth = k1): Promise<string> => {
    const error = await rejection(verify(edited, keyMonth));
    if (!(error instanceof NotGenuine)) throw error;
    return error.message;
  };
  /**
   * The same events with new digests and a new signature, as a holder of the key could write them.
   */
  const signedAgain = (
    edit: (events: ReturnType<typeof eventsOf>) => ReturnType<typeof eventsOf>,
  ): string[] => {
    const writer = createExportWriter(signer);
    const edited = edit(eventsOf(lines)).map(({ event, inclusion }) => writer.add(event, inclusion));
    return [...edited, writer.end()];
  };

  before(async () => {
    sealed = sealing(temporary.store);
    const { log, seals } = sealed;
    await log.append("key-k2", "KeyIssued", {
      apiKey: "k2",
      websiteId: "w1",
      plan: { tier: "free", requestsPerMinute: 100, monthlyCharacters: 1_000 },
    });
    await writeBusyDay(sealed);
    await log.serve("j2", "k2", [100]);
    await log.openJournal("j3");
    await log.serve("j3", "k2", [100]);
    await log.append("quota-k1-2026-11", "ReservationsRecalled", { journal: "j3" });
    await log.close("j3");
    await log.retire("j3");
    await log.append("website-w1", "WebsiteRenamed", { name: "example.org" });
    await seals.seal({ actor: "system" });
    lines = await exportMonth();
  });

  it("is accepted, with the totals of the month and the events of each stream", async () => {
    const summary = await verify(lines);
    expect(summary).to.deep.include({ characters: 137, requests: 8, isClosed: false });
    expect(summary.voided).to.deep.equal({ characters: 0, requests: 0 });
    expect(summary.sealed).to.include({ seal: 3 });
    expect(Object.fromEntries(summary.streams)).to.deep.equal({
      "key-k1": 4,
      "usage-k1-2026-11": 1,
      "quota-k1-2026-11": 1,
      journals: 5,
      "journal-j1": 4,
      "journal-j2": 4,
    });
    expect(summary.events).to.equal(19);
  });

  it("has no events of other keys and websites, and no journal that only recalled reservations", () => {
    const streams = new Set(eventsOf(lines).map(({ event }) => event.stream));
    expect([...streams].filter((stream) => /k2|j3|website|platform/.test(stream))).to.deep.equal([]);
  });

  it("names the line, and the event, of every change of a character", () =>
    fc.assert(
      fc.asyncProperty(fc.nat(lines.length - 2), fc.nat(), async (index, at) => {
        const line = lines[index] as string;
        const place = at % (line.length - 1);
        const changed = `${line.slice(0, place)}${line[place] === "0" ? "1" : "0"}${line.slice(place + 1)}`;
        expect(await problem(lines.with(index, changed))).to.match(new RegExp(`^line ${index} was changed`));
      }),
      { numRuns: 300 },
    ));

  it("names the first of dropped, doubled, swapped and inserted lines", () =>
    fc.assert(
      fc.asyncProperty(fc.nat(lines.length - 2), fc.nat(lines.length - 2), async (some, other) => {
        const [low, high] = [Math.min(some, other), Math.max(some, other)];
        const dropped = await problem(lines.toSpliced(low, 1));
        expect(dropped).to.include(low < lines.length - 2 ? `line ${low} is missing` : "other lines");
        expect(await problem(lines.toSpliced(low, 0, lines[low] as string))).to.include(
          `line ${low} was doubled`,
        );
        if (low === high) return;
        const swapped = lines.with(low, lines[high] as string).with(high, lines[low] as string);
        expect(await problem(swapped)).to.include(`line ${low} is missing`);
      }),
      { numRuns: 200 },
    ));

  it("names each changed event even if all digests and the signature are new", async () => {
    const events = eventsOf(lines);
    for (const index of events.keys()) {
      if (index === 0) continue; // the seal
      const { event } = events[index] as (typeof events)[number];
      const other = { ...event, data: { ...event.data, at: "2026-11-05T11:59:59.999Z" } };
      const edited = signedAgain((all) => all.with(index, { ...all[index], event: other }));
      expect(await problem(edited), JSON.stringify(event)).to.include(
        `${event.stream} revision ${event.revision} (${event.type}, position ${event.position})`,
      );
    }
  });

  it("refuses each dropped event and each moved event even if all digests and the signature are new", async () => {
    for (const index of eventsOf(lines).keys()) {
      const dropped = signedAgain((events) => events.toSpliced(index, 1));
      // The last event of a stream may be dropped unnoticed only by the holder of the key: its
      // journals name what was charged.
      const isEndOfOwnStream = eventsOf(lines)
        .slice(index + 1)
        .every(({ event }) => event.stream !== eventsOf(lines)[index]?.event.stream);
      const { stream = "" } = eventsOf(lines)[index]?.event ?? {};
      if (isEndOfOwnStream && /^(key-|quota-|journals$)/.test(stream)) continue;
      expect(await problem(dropped), stream).to.match(/missing|lacks|changed|continue|not open/);
      if (index < 2) continue;
      const moved = signedAgain((events) =>
        events.toSpliced(index, 1).toSpliced(1, 0, ...events.slice(index, index + 1)),
      );
      expect(await problem(moved), stream).to.match(/moved|missing|continue|not open|no entries/);
    }
  });

  it("refuses a journal that ends earlier than the seal, even if all digests and the signature are new", async () => {
    for (const kept of [0, 1, 2, 3]) {
      const isKept = ({ event }: { event: ProvenEvent }) =>
        event.stream !== "journal-j2" || event.revision < kept;
      const cut = signedAgain((events) => events.filter(isKept));
      expect(await problem(cut)).to.match(
        new RegExp(`journal-j2 .*revision ${kept} |missing after journal-j2`),
      );
    }
  });

  it("refuses a seal whose list of journals was changed to earlier ends", async () => {
    const cut = signedAgain(([seal, ...events]) => {
      const kept = events.filter(({ event }) => event.stream !== "journal-j2" || event.revision < 1);
      const end = kept.find(({ event }) => event.stream === "journal-j2")?.event as ProvenEvent;
      const journals = [{ journal: "j2", revision: 0, digest: eventDigest(end) }];
      const event = { ...(seal?.event as ProvenEvent), data: { ...seal?.event.data, journals } };
      return [{ event }, ...kept];
    });
    expect(await problem(cut)).to.include("journal-j2 revision 0");
  });

  it("refuses an added event of another key, and the export of another key or month", async () => {
    const foreign = {
      position: 9,
      stream: "key-k9",
      revision: 0,
      id: "x",
      type: "X",
      created: 0,
      data: {},
      metadata: {},
    };
    expect(await problem(signedAgain((events) => events.toSpliced(1, 0, { event: foreign })))).to.include(
      "key-k9 revision 0 (X, position 9) was added",
    );
    expect(await problem(lines, { ...k1, apiKey: "k2" })).to.include("not of this key and month");
    expect(await problem(lines, { ...k1, month: "2026-10" })).to.include("not of this key and month");
  });

  it("refuses a signature of another key", async () => {
    const other = keys.map((key) => ({ ...key, verify: () => false }));
    const error = await rejection(verifyKeyMonth(inChunks(lines.join("")), other, k1));
    expect((error as Error).message).to.include("seals revision 3");
  });

  it("is refused for a key that was never issued", async () => {
    expect(await rejection(exportMonth({ ...k1, apiKey: "unknown" }))).to.be.instanceOf(NotFound);
  });

  it("seals a log that has no seal yet", async () => {
    const opened = await openTemporaryStore();
    try {
      const { log, seals } = sealing(opened.store);
      await log.append("key-k1", "KeyIssued", { apiKey: "k1", websiteId: "w1", plan: freePlan });
      const text = await collect(
        createKeyMonthExport({ store: opened.store, seals, signer, clock: Date.now })(k1),
      );
      const summary = await verifyKeyMonth(inChunks(text.join("")), keys, k1);
      expect(summary).to.deep.include({ events: 1, characters: 0 });
    } finally {
      await opened.remove();
    }
  });
});

const eventsOf = (lines: readonly string[]): { event: ProvenEvent; inclusion?: InclusionProof }[] => {
  const reader = createExportReader(signedWith(() => keys));
  return lines
    .slice(0, -1)
    .map((line) => reader.read(Buffer.from(line.slice(0, -1))) as { event: ProvenEvent });
};

/** Chunks that end within lines. */
async function* inChunks(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += 1_000) yield bytes.subarray(start, start + 1_000);
}
