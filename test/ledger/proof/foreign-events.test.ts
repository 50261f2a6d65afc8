import { randomUUID } from "node:crypto";
import { binaryEvent, EventStoreDBClient, jsonEvent } from "@eventstore/db-client";
import { expect } from "chai";
import { verifyKeyMonth } from "../../../src/domain/ledger/proof/key-month-verifier.ts";
import { createLogVerifier } from "../../../src/domain/ledger/proof/log-verifier.ts";
import { NotGenuine } from "../../../src/domain/ledger/proof/not-genuine.ts";
import { addToPlan, type SealPlan } from "../../../src/domain/ledger/proof/seal-check.ts";
import { type ProvenEvent, provenEvent } from "../../../src/domain/ledger/seals/proven-event.ts";
import { isCovered } from "../../../src/domain/ledger/seals/seal.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { readLog } from "../../../src/eventstore/follow-events.ts";
import { positionBefore } from "../../../src/ledger/audit/log-period.ts";
import { verifyLog } from "../../../src/ledger/proof/audit-verify.ts";
import { createKeyMonthExport } from "../../../src/ledger/proof/key-month-export.ts";
import { createForeignJournals } from "../../../src/ledger/session/foreign-journals.ts";
import { collect } from "../../support/collect.ts";
import { startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";
import { until } from "../../support/manual-time.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { keys, sealing, signer, verify, writeBusyDay } from "./sealed-store.ts";

interface Shared {
  readonly store: EventStore;
  /** Appends data that no JSON object is, where the store allows it. */
  readonly appendBytes?: (stream: string) => Promise<void>;
  /** Appends numbers that have no canonical form. */
  readonly appendNumbers?: (stream: string) => Promise<void>;
  remove(): Promise<void>;
}

const onServer = async (): Promise<Shared> => {
  const node = await startEventStoreDBNode();
  const store = await openEventStoreDB({ url: node.url, appendTimeoutMs: 15_000 });
  const client = EventStoreDBClient.connectionString(node.url);
  return {
    store,
    appendBytes: async (stream) => {
      await client.appendToStream(stream, binaryEvent({ type: "Booked", data: Buffer.from([1, 2]) }));
    },
    appendNumbers: async (stream) => {
      const data = { balance: JSON.rawJSON("-0.0"), limit: JSON.rawJSON("1e999") };
      await client.appendToStream(stream, jsonEvent({ type: "Booked", data }));
    },
    remove: async () => {
      await client.dispose();
      await store.close();
      await node.close();
    },
  };
};

const append = async (store: EventStore, stream: string, type: string, data: object = {}): Promise<void> => {
  const event = { id: randomUUID(), type, data, metadata: {} };
  await store.append(stream, [event], "any");
};

/** The remarks on other programs: those on times come from the clock of these logs. */
const onOthers = (remarks: readonly string[]): string[] =>
  remarks.filter((remark) => remark.includes("another program's"));

for (const [name, open] of Object.entries({ SQLite: openTemporaryStore, EventStoreDB: onServer })) {
  describe(`the proof of a log on ${name} in which another program writes`, () => {
    let shared: Shared;
    let store: EventStore;
    let sealed: ReturnType<typeof sealing>;

    beforeEach(async () => {
      shared = await open();
      ({ store } = shared);
      sealed = sealing(store);
    });
    afterEach(async () => {
      await shared.remove();
    });

    const problem = async (): Promise<string> => {
      const error = await rejection(verifyLog(store, { keys }));
      if (!(error instanceof NotGenuine)) throw error;
      return error.message;
    };

    it("ignores and reports journals that the registry does not name", async () => {
      await append(store, "journal-42", "JournalPosted", { amount: 5 });
      await append(store, "journal-42", "Booked", { at: "2026-11-05T10:00:00.000Z" });
      await shared.appendBytes?.("journal-42");
      await writeBusyDay(sealed);
      await append(store, "journal-43", "Booked");
      const exported = await sealed.exported();
      const { remarks, seals } = await verifyLog(store, { keys });
      expect(seals).to.equal(4);
      const count = shared.appendBytes ? 4 : 3;
      expect(onOthers(remarks).join()).to.match(
        new RegExp(
          `^${count} events are of another program's journals, .* the first is journal-42 revision 0 `,
        ),
      );
      expect(exported.toString()).not.to.contain("journal-42");
      expect(onOthers((await verify(exported)).remarks)).to.deep.equal([]);
    });

    it("continues after other events in the stream of seals, also after a first one", async () => {
      await append(store, "seals", "Stamped", { animal: "harbour seal" });
      await writeBusyDay(sealed);
      await append(store, "seals", "Stamped");
      await shared.appendBytes?.("seals");
      const exported = await sealed.exported();
      const { remarks, seals } = await verifyLog(store, { keys });
      expect(seals).to.equal(4);
      expect(onOthers(remarks).join()).to.match(/^[23] events in the stream seals are another program's: /);
      expect(onOthers((await verify(exported)).remarks)).to.deep.equal(onOthers(remarks));
    });

    it("proves a key's month beside them", async () => {
      await append(store, "seals", "Stamped");
      await append(store, "journal-42", "Booked");
      await shared.appendBytes?.("journals");
      await shared.appendNumbers?.("journals");
      await writeBusyDay(sealed);
      await append(store, "seals", "Stamped");
      const clock = () => Date.parse(sealed.log.now());
      const exportKeyMonth = createKeyMonthExport({ store, seals: sealed.seals, signer, clock });
      const keyMonth = { apiKey: "k1", month: "2026-11" };
      const text = (await collect(exportKeyMonth(keyMonth))).join("");
      expect(text).to.contain('"stream":"journal-j2"').and.not.to.contain("journal-42");
      async function* chunks() {
        yield Buffer.from(text);
      }
      const { remarks } = await verifyKeyMonth(chunks(), keys, keyMonth);
      expect(onOthers(remarks)).to.have.length(shared.appendBytes ? 1 : 0);
    });

    it("covers numbers that have no canonical form", async function () {
      if (!shared.appendNumbers) return this.skip();
      for (const stream of ["seals", "key-7", "journal-42"]) await shared.appendNumbers(stream);
      await writeBusyDay(sealed);
      await verify(await sealed.exported());
      expect(await verifyLog(store, { keys })).to.deep.include({ seals: 4 });
    });

    it("begins a period at no position that another program's event in the stream of seals names", async () => {
      await writeBusyDay(sealed);
      await append(store, "seals", "Stamped", { position: 1e15, at: sealed.log.now() });
      const position = (await positionBefore(store, Date.now() + 3_600_000)) ?? -1;
      expect(position).to.be.within(0, 1e6);
    });

    it("needs no form of what no JSON object is in a stream that is never sealed", async function () {
      if (!shared.appendBytes) return this.skip();
      await writeBusyDay(sealed);
      for (const stream of ["delivery-7", "website-7"]) await shared.appendBytes(stream);
      const { remarks, uncovered, unsealed } = await verifyLog(store, { keys });
      expect(onOthers(remarks).join()).to.match(/^2 events are another program's, and are no JSON objects: /);
      expect({ uncovered, unsealed }).to.deep.equal({ uncovered: 2, unsealed: 2 });
      const exported = await sealed.exported();
      expect(onOthers((await verify(exported)).remarks).join()).to.match(/^1 events are another program's, /);
    });

    it("ignores and reports a malformed event of an own type in a journal that the registry does not name", async () => {
      await writeBusyDay(sealed);
      await append(store, "journal-44", "JournalClosed", { amount: 5 });
      expect(onOthers((await verifyLog(store, { keys })).remarks).join()).to.match(
        /^1 events are of another program's journals, .* the first is journal-44 revision 0 /,
      );
    });

    it("finds a malformed event of an own type in any other stream of this service", async () => {
      await writeBusyDay(sealed);
      await append(store, "key-other", "KeySuspended", { amount: 5 });
      expect(await problem()).to.match(/^key-other revision 0 .* is malformed, or belongs to another kind/);
    });

    it("finds an own event in a journal that the registry does not name", async () => {
      await writeBusyDay(sealed);
      const at = sealed.log.now();
      await append(store, "journal-forged", "ServingsVoided", { at, previous: null, servings: [] });
      expect(await problem()).to.match(/^journal-forged revision 0 .* is of a journal that is not open$/);
    });

    it("finds an own event whose type was changed there", async () => {
      await writeBusyDay(sealed);
      await append(store, "journal-j3", "Booked", { at: sealed.log.now(), previous: null });
      expect(await problem()).to.match(/^journal-j3 revision 0 .* is of a journal that is not open$/);
    });

    it("finds a journal that the registry opens after its first event", async () => {
      await writeBusyDay(sealed);
      await append(store, "journal-j3", "Booked");
      await sealed.log.openJournal("j3");
      expect(await problem()).to.match(/^journals revision \d+ .* opens a journal that has earlier events$/);
    });

    it("finds another program's event in an own journal", async () => {
      await writeBusyDay(sealed);
      await append(store, "journal-j2", "Booked");
      expect(await problem()).to.match(
        /^journal-j2 revision \d+ .* is not a well-formed event of a journal$/,
      );
    });

    it("finds a malformed seal, which no seal continues", async () => {
      await writeBusyDay(sealed);
      await append(store, "seals", "Sealed", { note: "none" });
      expect(await problem()).to.match(/^seals revision 3 .* is malformed/);
      const error = (await rejection(sealed.seals.seal({ actor: "system" }))) as Error;
      expect(error.message).to.equal("seal 3 is malformed");
    });

    it("begins no new seals if other events are left of a stream whose seals were removed", async () => {
      await writeBusyDay(sealed);
      await store.setRetention("seals", { maxCount: 1 });
      await append(store, "seals", "Stamped");
      const error = (await rejection(sealed.seals.seal({ actor: "system" }))) as Error;
      expect(error.message).to.equal("the first events of the stream seals are missing");
      expect(await problem()).to.match(/^seals revision 0 /);
    });

    it("finds a seal whose type was changed", async () => {
      await writeBusyDay(sealed);
      const [, , seal] = await collect(store.readStream("seals"));
      await append(store, "seals", "Stamped", seal?.data);
      expect(await problem()).to.match(/^seals revision 3 .* is not a well-formed seal$/);
    });

    it("counts other programs' journals that have events, and no own ones", async () => {
      const errors: string[] = [];
      const journals = createForeignJournals(store, (what) => errors.push(what));
      await writeBusyDay(sealed);
      for (const journal of ["42", "43", "42"]) await append(store, `journal-${journal}`, "Booked");
      const events = (
        await Promise.all(
          ["journal-j1", "journal-j2", "journals", "journal-42", "journal-43"].map((stream) =>
            collect(store.readStream(stream)),
          ),
        )
      ).flat();
      journals.follow(events.toSorted((a, b) => a.position - b.position));
      await until(() => journals.count() === 2);
      const [own] = await collect(store.readStream("journal-j2"));
      const unseen = createForeignJournals(store, (what) => errors.push(what));
      unseen.follow([...(own ? [own] : []), ...events.filter(({ stream }) => stream === "journal-43")]);
      await until(() => unseen.count() === 1);
      expect(errors).to.deep.equal([]);
    });
  });
}

describe("another program's event in the place of an own one", () => {
  it("is found, whatever the own one was, unless that is the last seal", async () => {
    const { store, remove } = await openTemporaryStore();
    const sealed = sealing(store);
    await writeBusyDay(sealed);
    await sealed.exported();
    const events = (await collect(readLog(store))).filter(({ stream }) => isCovered(stream)).map(provenEvent);
    await remove();
    const isGenuine = (list: readonly ProvenEvent[]): boolean => {
      const plan: SealPlan[] = [];
      for (const event of list) if (event.stream === "seals") addToPlan(plan, event);
      const verifier = createLogVerifier({ keys, plan });
      try {
        for (const event of list) {
          if (verifier.findForeign(event)) verifier.addForeign(event);
          else verifier.add(event);
        }
        verifier.end();
        return true;
      } catch (error) {
        if (error instanceof NotGenuine) return false;
        throw error;
      }
    };
    expect(isGenuine(events)).to.equal(true);
    for (const [index, event] of events.slice(0, -1).entries()) {
      for (const data of [{}, 5 as unknown as object]) {
        const replaced = { ...event, type: "Booked", data };
        expect(isGenuine(events.with(index, replaced)), `${event.stream} ${event.revision}`).to.equal(false);
      }
    }
  });
});
