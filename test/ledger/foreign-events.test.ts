import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { systemTime } from "../../src/async/time.ts";
import { type UsagePosted, usageAccountStream } from "../../src/domain/ledger/accounts/usage-account.ts";
import { eventDigest } from "../../src/domain/ledger/journal/canonical.ts";
import { journalStream } from "../../src/domain/ledger/journal/journal.ts";
import { createCommandHandler } from "../../src/eventstore/command-handler.ts";
import { validatedEventStore } from "../../src/eventstore/validated-event-store.ts";
import { createUsageReader } from "../../src/ledger/accounts/usage-reader.ts";
import { closeJournal } from "../../src/ledger/journal/close-journal.ts";
import { readJournalEnd } from "../../src/ledger/journal/journal-reader.ts";
import { createJournalRegistry, listOpenJournals } from "../../src/ledger/journal/journal-registry.ts";
import type { OpenLedger } from "../../src/ledger/open-ledger.ts";
import { createRecoverJournal } from "../../src/ledger/session/recover-journals.ts";
import { collect } from "../support/collect.ts";
import { testPrincipal } from "../support/principal.ts";
import { servedAudio } from "../support/served-audio.ts";
import { openTemporaryStore, type TemporaryStore } from "../support/temporary-store.ts";
import { openTestLedger, readLedger, record } from "../support/test-ledger.ts";

const month = "2026-11";
const at = `${month}-21T10:00:00.000Z`;
const clock = () => Date.parse(at);
const quota = 1_000;
const principal = testPrincipal({ monthlyCharacters: quota });

const foreignEvents: readonly (readonly [what: string, type: string, data: object])[] = [
  ["an unknown event", "Note", { text: "another program was here" }],
  ["a malformed event", "SynthesesServed", { at: 1 }],
  ["a well-formed event", "ServingsVoided", { at, previous: null, servings: [] }],
];

for (const [what, type, data] of foreignEvents) {
  describe(`A journal to which another program has appended ${what}`, () => {
    let temporary: TemporaryStore;
    let store: TemporaryStore["store"];
    let opened: OpenLedger;

    beforeEach(async () => {
      temporary = await openTemporaryStore();
      store = validatedEventStore(temporary.store);
      opened = await openTestLedger(store, clock);
    });
    afterEach(async () => {
      await opened.close(1_000);
      await temporary.remove();
    });

    const appendForeign = async (journal: string): Promise<void> => {
      await temporary.store.append(
        journalStream(journal),
        [{ id: randomUUID(), type, data, metadata: {} }],
        "any",
      );
    };
    const speak = (requestId: string) =>
      record(opened.ledger, principal, servedAudio({ requestId, characters: 10 }));
    const recover = (journal: string) =>
      createRecoverJournal({
        store,
        handler: createCommandHandler({ store, clock }),
        clock,
        time: systemTime,
        onError: (what, error) => {
          throw new Error(what, { cause: error });
        },
        registry: createJournalRegistry(createCommandHandler({ store, clock }), clock),
        recoverIdempotencyKeys: async () => {},
        closeJournal: (one, reason) => closeJournal(store, clock, one, reason),
      })(journal, "silent");

    it("is replaced by a new journal, and no request is lost", async () => {
      const { journal } = await speak("r-0");
      const before = Array.from({ length: 20 }, (_, n) => speak(`before-${n}`));
      await appendForeign(journal);
      const after = Array.from({ length: 20 }, (_, n) => speak(`after-${n}`));
      const receipts = await Promise.all([...before, ...after]);
      expect(receipts.at(-1)?.journal).not.to.equal(journal);
      const { servings } = await readLedger(store);
      const recorded = servings.map(({ requestId }) => requestId).sort();
      expect(recorded).to.deep.equal(["r-0", ...receipts.map(({ serving }) => serving.requestId)].sort());
    });

    it("is closed by its own process", async () => {
      const { journal } = await speak("r-0");
      await appendForeign(journal);
      await speak("r-1");
      while (!(await readJournalEnd(store, journal))?.closed) await setImmediate();
    });

    it("can be the first event", async () => {
      const [journal = ""] = await listOpenJournals(store);
      await appendForeign(journal);
      expect((await speak("r")).journal).not.to.equal(journal);
    });

    it("is reported, closed, posted and retired like any other journal", async () => {
      const { journal } = await speak("r-0");
      await appendForeign(journal);
      await speak("r-1");
      const usage = async () =>
        (await createUsageReader({ store }).usageOf({ apiKey: "k", month })).characters;
      expect(await usage()).to.equal(20);
      await recover(journal);
      expect(await listOpenJournals(store)).not.to.include(journal);
      expect(await usage()).to.equal(20);
      const [first] = await collect(store.readStream(journalStream(journal)));
      const postings = await collect(store.readStream(usageAccountStream("k", month)));
      const posted = postings.map((event) => event.data as UsagePosted);
      expect(posted.map(({ digest }) => digest)).to.deep.equal([first && eventDigest(first)]);
    });

    it("keeps no characters reserved", async () => {
      const { journal } = await speak("r-0");
      await appendForeign(journal);
      await speak("r-1");
      await record(opened.ledger, principal, servedAudio({ requestId: "rest", characters: quota - 20 }));
    });
  });
}
