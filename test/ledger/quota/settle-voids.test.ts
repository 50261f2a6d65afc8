import { expect } from "chai";
import { systemTime } from "../../../src/async/time.ts";
import { issueKey, keyDecider, keyStream } from "../../../src/domain/accounts/key.ts";
import { KeyIsSuspended } from "../../../src/domain/errors.ts";
import type { Receipt } from "../../../src/domain/ledger/journal/serving.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import { type EventStore, EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { closeJournal } from "../../../src/ledger/journal/close-journal.ts";
import { createJournalRegistry } from "../../../src/ledger/journal/journal-registry.ts";
import type { OpenLedger } from "../../../src/ledger/open-ledger.ts";
import { settleVoids } from "../../../src/ledger/quota/settle-voids.ts";
import { createRecoverJournal } from "../../../src/ledger/session/recover-journals.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { testPrincipal } from "../../support/principal.ts";
import { rejection } from "../../support/rejection.ts";
import { servedAudio } from "../../support/served-audio.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { openTestLedger, record } from "../../support/test-ledger.ts";

const clock = () => Date.parse("2026-11-21T10:00:00.000Z");
const principal = testPrincipal({ monthlyCharacters: 30 });
const stream = `quota-${principal.apiKey}-2026-11`;

describe("voids whose process could not state its lower total", () => {
  const temporary = duringTest(openTemporaryStore);
  let gone: OpenLedger;
  let other: OpenLedger;
  let isLost = false;
  let lost: PromiseWithResolvers<void>;

  /** From some time on, no statement of the process arrives. */
  const withLostStatements = (store: EventStore): EventStore => ({
    ...store,
    append: async (name, events, expected) => {
      if (!isLost || events[0]?.type !== "ReservationReturned")
        return await store.append(name, events, expected);
      lost.resolve();
      throw new EventStoreUnavailable("the process is gone");
    },
  });

  const speak = (ledger: OpenLedger, requestId: string, characters: number): Promise<Receipt> =>
    record(ledger.ledger, principal, servedAudio({ requestId, characters }));
  /** A void is durable, and the lower total is not stated. */
  const voidUnstated = async (): Promise<Receipt> => {
    const receipt = await speak(gone, "r-1", 11);
    await speak(other, "r-2", 19); // the first journal returns what it holds
    expect(await rejection(speak(other, "r-3", 11))).to.be.instanceOf(KeyIsSuspended);
    isLost = true;
    void gone.ledger.voidServing(receipt);
    await lost.promise;
    return receipt;
  };

  beforeEach(async () => {
    isLost = false;
    lost = Promise.withResolvers<void>();
    const { apiKey, websiteId, plan } = principal;
    const at = new Date(clock()).toISOString();
    const issue = () => issueKey({ status: "absent" }, { apiKey, websiteId, plan, at });
    await createCommandHandler(temporary).execute(keyDecider, keyStream(apiKey), issue, {});
    gone = await openTestLedger(withLostStatements(temporary.store), clock, { onError: () => {} });
    other = await openTestLedger(temporary.store, clock);
  });
  afterEach(async () => {
    await gone.close(0);
    await other.close(5_000);
  });

  const lastStatement = async (): Promise<object | undefined> => {
    const last = (await collect(temporary.store.readStream(stream))).at(-1);
    return last && { type: last.type, ...last.data };
  };
  const settled = (journal: string, total: number): object => {
    return { type: "ReservationSettled", journal, total, at: new Date(clock()).toISOString() };
  };
  /** Recovers the journal as a sweep does. */
  const recover = (store: EventStore, journal: string): Promise<void> => {
    const handler = createCommandHandler({ store, clock });
    return createRecoverJournal({
      ...{ store, handler, clock, time: systemTime },
      onError: (what, error) => {
        throw new Error(what, { cause: error });
      },
      registry: createJournalRegistry(handler, clock),
      recoverIdempotencyKeys: async () => {},
      closeJournal: (one, reason) => closeJournal(store, clock, one, reason),
    })(journal, "silent");
  };

  it("makes the voided characters available when the journal of a killed process is recovered", async () => {
    const { journal } = await voidUnstated();
    await Promise.all([recover(temporary.store, journal), recover(temporary.store, journal)]);
    expect(await lastStatement()).to.deep.equal(settled(journal, 0));
    await speak(other, "r-4", 11);
    const last = await lastStatement();
    await recover(temporary.store, journal);
    expect(await lastStatement()).to.deep.equal(last);
  });

  it("makes the voided characters available when the process finds its journal closed, and continues in another", async () => {
    const { journal } = await voidUnstated();
    await closeJournal(temporary.store, clock, journal, "unresponsive");
    await record(gone.ledger, testPrincipal({ apiKey: "unlimited" }), servedAudio({ requestId: "r-4" }));
    await gone.close(5_000);
    const statements = await collect(temporary.store.readStream(stream));
    expect(statements.map(({ type, data }) => ({ type, ...data }))).to.deep.include(settled(journal, 0));
  });

  it("settles a negative total of a journal that voided only what another one had charged", async () => {
    const ofOther = await speak(other, "r-1", 19);
    const unlimited = testPrincipal({ apiKey: "unlimited" });
    const { journal } = await record(gone.ledger, unlimited, servedAudio({ requestId: "r-2" }));
    isLost = true;
    void gone.ledger.voidServing(ofOther);
    await lost.promise;
    await recover(temporary.store, journal);
    expect(await lastStatement()).to.deep.equal(settled(journal, -19));
  });

  it("reads the journal's last minute once, and no account of a key that had no quota", async () => {
    const keys = Array.from({ length: 30 }, (_, n) => testPrincipal({ apiKey: `k-${n}` }));
    const receipts: Receipt[] = [];
    for (const one of keys)
      receipts.push(await record(gone.ledger, one, servedAudio({ requestId: one.apiKey })));
    for (const receipt of receipts) void gone.ledger.voidServing(receipt);
    await gone.drained();
    const journal = receipts[0]?.journal as string;
    await recover(temporary.store, journal);
    const reads = new Map<string, number>();
    const counting: EventStore = {
      ...temporary.store,
      async *readStream(name, options) {
        const [kind = ""] = name.split("-");
        for await (const event of temporary.store.readStream(name, options)) {
          reads.set(kind, (reads.get(kind) ?? 0) + 1);
          yield event;
        }
      },
    };
    const handler = createCommandHandler({ store: counting, clock });
    await settleVoids({ store: counting, handler, clock }, journal);
    const length = (await collect(temporary.store.readStream(`journal-${journal}`))).length;
    expect(length).to.be.above(30);
    expect(reads.get("journal")).to.be.at.most(length);
    expect(reads.get("usage")).to.equal(undefined);
  });
});
