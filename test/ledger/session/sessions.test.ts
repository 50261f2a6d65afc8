import { expect } from "chai";
import { Unavailable } from "../../../src/domain/errors.ts";
import { usageAccountStream } from "../../../src/domain/ledger/accounts/usage-account.ts";
import { journalStream } from "../../../src/domain/ledger/journal/journal.ts";
import type { Receipt } from "../../../src/domain/ledger/journal/serving.ts";
import { quotaStream } from "../../../src/domain/ledger/quota/quota.ts";
import { closeJournal } from "../../../src/ledger/journal/close-journal.ts";
import { listOpenJournals } from "../../../src/ledger/journal/journal-registry.ts";
import type { OpenLedger } from "../../../src/ledger/open-ledger.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { testPrincipal } from "../../support/principal.ts";
import { rejection } from "../../support/rejection.ts";
import { servedAudio } from "../../support/served-audio.ts";
import { countSubscriptions, type SubscriptionCounter } from "../../support/subscription-counter.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { openTestLedger, readLedger, record } from "../../support/test-ledger.ts";
import { type DisturbedStore, disturbedStore } from "../disturbed-store.ts";

const start = Date.parse("2026-11-21T10:00:00.000Z");
const principal = (monthlyCharacters: number | null) => testPrincipal({ monthlyCharacters });

describe("the journals of a process", () => {
  const temporary = duringTest(openTemporaryStore);
  let store: DisturbedStore;
  let subscriptions: SubscriptionCounter;
  let time: ManualTime;
  let opened: OpenLedger;
  let errors: string[];

  beforeEach(async () => {
    subscriptions = countSubscriptions(temporary.store);
    store = disturbedStore(subscriptions);
    time = createManualTime();
    errors = [];
    const onError = (what: string) => void errors.push(what);
    opened = await openTestLedger(store, () => start, { time, onError });
  });

  afterEach(async () => {
    store.release();
    await closeWithin(1);
  });

  const serve = (quota: number | null, requestId: string): Promise<Receipt> =>
    record(opened.ledger, principal(quota), servedAudio({ requestId }));
  /** Closes the ledger when its time is up. */
  const closeWithin = async (ms: number): Promise<void> => {
    const closed = opened.close(ms);
    time.advance(ms);
    await closed;
  };
  const requestIds = async () => (await readLedger(temporary.store)).servings.map((one) => one.requestId);

  /** Lets minutes pass, with the check at the end of each. */
  const pass = async (minutes: number): Promise<void> => {
    for (let minute = 0; minute < minutes; minute++) {
      const active = time.waiting();
      time.advance(60_000);
      await until(() => time.waiting() >= active);
    }
  };

  it("serve a request from the next journal if the idle one is closed while it waits for characters", async () => {
    const { journal } = await serve(null, "r-1");
    await pass(9);
    store.hold();
    const waiting = serve(1_000, "r-2");
    await until(() => store.held === 1);
    time.advance(60_000);
    store.release();
    expect((await waiting).journal).not.to.equal(journal);
    expect(await requestIds()).to.have.members(["r-1", "r-2"]);
  });

  it("are posted and retired by their own process after another one has closed them", async () => {
    const { journal } = await serve(null, "r-1");
    await closeJournal(temporary.store, () => start, journal, "unresponsive");
    const next = await serve(null, "r-2");
    let open: readonly string[] = [journal];
    while (open.includes(journal)) open = await listOpenJournals(temporary.store);
    expect(open).to.deep.equal([next.journal]);
    const [posting] = await collect(temporary.store.readStream(usageAccountStream("k", "2026-11")));
    expect(posting?.data).to.include({ journal, characters: 11 });
  });

  it("return the characters of servings that came too late before they are closed", async () => {
    await serve(1_000, "r-1");
    store.hold();
    const late = rejection(serve(1_000, "r-2"));
    await until(() => store.held === 1);
    time.advance(5_000);
    expect(await late).to.be.instanceOf(Unavailable);
    const closed = opened.close(1_000);
    store.release();
    await closed;
    const events = await collect(temporary.store.readStream(quotaStream("k", "2026-11")));
    expect(events.at(-1)).to.deep.include({ type: "ReservationReturned" });
    expect(events.at(-1)?.data).to.include({ total: 11 });
  });

  it("read no quota again at their end if the returned total excludes all voids", async () => {
    const receipt = await serve(1_000, "r-1");
    void opened.ledger.voidServing(receipt);
    await opened.drained();
    const read = new Set<string>();
    const { readStream } = store;
    store.readStream = (stream, options) => {
      read.add(stream);
      return readStream(stream, options);
    };
    await opened.close(1_000);
    expect([...read]).not.to.include(quotaStream("k", "2026-11"));
  });

  it("delay the shutdown up to its limit, then report what may be lost", async () => {
    const receipt = await serve(null, "r-1");
    store.hold();
    void opened.ledger.voidServing(receipt);
    await until(() => store.held === 1);
    const closed = opened.close(1_000);
    time.advance(999);
    expect(errors).to.deep.equal([]);
    time.advance(1);
    await closed;
    expect(errors).to.deep.equal(["entries of the journal may be lost"]);
    expect(time.waiting()).to.equal(0);
  });

  it("leave no timer and no subscription after a shutdown during which the store refuses appends", async () => {
    await serve(1_000, "r-1");
    store.refusesAppends = true;
    const refused = rejection(serve(1_000, "r-2"));
    await closeWithin(1_000);
    expect(await refused).to.be.instanceOf(Unavailable);
    await subscriptions.allEnded();
    expect(time.waiting()).to.equal(0);
    const { appends } = store;
    time.advance(3_600_000);
    expect(store.appends).to.equal(appends);
  });

  it("leave none either if a request opens the next one during the shutdown", async () => {
    const { journal } = await serve(1_000, "r-1");
    store.hold();
    const refused = rejection(serve(999, "r-2"));
    await until(() => store.held === 1); // its reservation
    const closed = opened.close(1_000);
    await until(() => store.held === 2); // the opening of the next journal
    time.advance(1_000);
    await closed;
    store.release();
    expect(await refused).to.match(/shutting down/);
    let open: readonly string[] = [];
    while (open.length < 2) open = await listOpenJournals(temporary.store);
    await until(() => time.waiting() === 0);
    await subscriptions.allEnded();
    const events = await collect(temporary.store.readStream(journalStream(journal)));
    expect(events.map(({ data }) => (data as { reason?: string }).reason)).not.to.include("unresponsive");
  });

  it("report a void that waits for its Idempotency-Key at the end of the shutdown", async () => {
    const keyed = servedAudio({ idempotency: { key: "i", request: "same" } });
    const receipt = await record(opened.ledger, principal(null), keyed);
    store.hold();
    void opened.ledger.voidServing(receipt);
    await until(() => store.held === 1);
    await closeWithin(1_000);
    await until(() => opened.ledger.backgroundEntries === 0);
    expect(errors).to.deep.equal(["an entry of the ledger was lost"]);
  });

  it("report each void that waits for a journal at the end of the shutdown, and open no further one", async () => {
    const receipt = await serve(null, "r-1");
    await closeJournal(temporary.store, () => start, receipt.journal, "unresponsive");
    store.hold();
    const refused = rejection(serve(null, "r-2"));
    void opened.ledger.voidServing(receipt);
    await until(() => store.held === 1);
    const closed = opened.close(1_000);
    time.advance(1_000);
    await closed;
    await until(() => opened.ledger.backgroundEntries === 0 || errors.length > 0);
    expect(errors.length).to.be.greaterThan(0);
    expect(await rejection(serve(null, "r-3"))).to.be.instanceOf(Unavailable);
    store.release();
    expect(await refused).to.be.instanceOf(Unavailable);
  });
});
