import { expect } from "chai";
import { closeJournal } from "../../../../src/application/ledger/journal/close-journal.ts";
import type { OpenLedger } from "../../../../src/application/ledger/open-ledger.ts";
import { settleVoids } from "../../../../src/application/ledger/quota/settle-voids.ts";
import { issueKey, keyDecider, keyStream } from "../../../../src/domain/accounts/key.ts";
import { KeyIsSuspended } from "../../../../src/domain/errors.ts";
import type { Receipt } from "../../../../src/domain/ledger/serving.ts";
import { createCommandHandler } from "../../../../src/eventstore/command-handler.ts";
import { type EventStore, EventStoreUnavailable } from "../../../../src/eventstore/event-store.ts";
import { collect } from "../../../support/collect.ts";
import { testPrincipal } from "../../../support/principal.ts";
import { rejection } from "../../../support/rejection.ts";
import { servedAudio } from "../../../support/served-audio.ts";
import { openTemporaryStore, type TemporaryStore } from "../../../support/temporary-store.ts";
import { openTestLedger, record } from "../../../support/test-ledger.ts";

const clock = () => Date.parse("2026-11-21T10:00:00.000Z");
const principal = testPrincipal({ monthlyCharacters: 30 });
const stream = `quota-${principal.apiKey}-2026-11`;

describe("the recovery of quotas from a process that was killed after a void", () => {
  let temporary: TemporaryStore;
  let gone: OpenLedger;
  let other: OpenLedger;
  let isKilled = false;
  let lost: PromiseWithResolvers<void>;

  /** Once killed, the process states nothing more in quota streams. */
  const killable = (store: EventStore): EventStore => ({
    ...store,
    append: async (name, events, expected) => {
      if (!isKilled || !name.startsWith("quota-")) return await store.append(name, events, expected);
      lost.resolve();
      throw new EventStoreUnavailable("the process is gone");
    },
  });

  const speak = (ledger: OpenLedger, requestId: string, characters: number): Promise<Receipt> =>
    record(ledger.ledger, principal, servedAudio({ requestId, characters }));
  const statements = async (): Promise<object[]> =>
    (await collect(temporary.store.readStream(stream))).map(({ type, data }) => ({ type, ...data }));

  beforeEach(async () => {
    temporary = await openTemporaryStore();
    isKilled = false;
    lost = Promise.withResolvers<void>();
    const { apiKey, websiteId, plan } = principal;
    const at = new Date(clock()).toISOString();
    const issue = () => issueKey({ status: "absent" }, { apiKey, websiteId, plan, at });
    await createCommandHandler(temporary).execute(keyDecider, keyStream(apiKey), issue, {});
    gone = await openTestLedger(killable(temporary.store), clock, { onError: () => {} });
    other = await openTestLedger(temporary.store, clock);
  });
  afterEach(async () => {
    await gone.close(0);
    await other.close(5_000);
    await temporary.remove();
  });

  const recover = (journal: string): Promise<void> =>
    settleVoids(
      { store: temporary.store, handler: createCommandHandler({ store: temporary.store, clock }), clock },
      journal,
    );

  it("makes the voided characters available to others", async () => {
    const receipt = await speak(gone, "r-1", 11);
    await speak(other, "r-2", 19); // the first journal returns what it holds
    expect(await rejection(speak(other, "r-3", 11))).to.be.instanceOf(KeyIsSuspended);
    isKilled = true;
    gone.ledger.voidServing(receipt);
    await lost.promise;
    await closeJournal(temporary.store, clock, receipt.journal, "silent");
    await Promise.all([recover(receipt.journal), recover(receipt.journal)]);
    const at = new Date(clock()).toISOString();
    expect((await statements()).at(-1)).to.deep.equal({
      type: "ReservationSettled",
      journal: receipt.journal,
      total: 0,
      at,
    });
    await speak(other, "r-4", 11);
    const count = (await statements()).length;
    await recover(receipt.journal);
    expect(await statements()).to.have.length(count);
  });
});
