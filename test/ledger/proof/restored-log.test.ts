import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect } from "chai";
import { createLogVerifier } from "../../../src/domain/ledger/proof/log-verifier.ts";
import { NotGenuine } from "../../../src/domain/ledger/proof/not-genuine.ts";
import { addToPlan, type SealPlan } from "../../../src/domain/ledger/proof/seal-check.ts";
import { type ProvenEvent, provenEvent } from "../../../src/domain/ledger/seals/proven-event.ts";
import type { Sealed } from "../../../src/domain/ledger/seals/seal.ts";
import {
  type Checkpoint,
  checkpointText,
  openNote,
  parseCheckpoint,
} from "../../../src/domain/ledger/seals/seal-note.ts";
import { type EventStore, readLastEvent } from "../../../src/eventstore/event-store.ts";
import { copyDatabase, lastPosition } from "../../../src/eventstore/sqlite/copy-database.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { verifyLog } from "../../../src/ledger/proof/audit-verify.ts";
import { readSealedEvents } from "../../../src/ledger/proof/sealed-log.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite, duringTest } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { keys, sealing, signer, writeBusyDay } from "./sealed-store.ts";

const restoredAt = "2026-11-05T11:00:00.000Z";
const cli = { actor: "cli" };

const checkpointOf = (note: string): Checkpoint => parseCheckpoint(openNote(note, keys) ?? "") as Checkpoint;

describe("the verification of a log that was restored from a backup", () => {
  const temporary = duringSuite(openTemporaryStore);
  let seals: ProvenEvent[];
  /** The events of the backup, which ends with the second of three seals. */
  let backedUp: ProvenEvent[];
  let end: number;

  before(async () => {
    await writeBusyDay(sealing(temporary.store));
    const all = (await collect(readSealedEvents(temporary.store, { journals: true }))).map(provenEvent);
    seals = all.filter(({ stream }) => stream === "seals");
    end = seals[1]?.position ?? 0;
    backedUp = all.filter(({ position }) => position <= end);
  });

  const sealOf = (revision: number): Sealed => seals[revision]?.data as Sealed;
  /** The backup with the event. No seal covers it yet. */
  const restored = ({ position = end, note = sealOf(1).note }: { position?: number; note?: string } = {}) => {
    const data = { position, takenAt: restoredAt, seal: note, at: restoredAt };
    const place = { stream: "log", revision: 0, position: end + 1, id: randomUUID() };
    const created = Date.parse(restoredAt);
    return [...backedUp, { ...place, type: "LogRestored", data, created, metadata: {} }];
  };
  /** Returns the first remark. The others are about times, which this log has invented. */
  const verify = (events: readonly ProvenEvent[], kept?: string) => {
    const plan: SealPlan[] = [];
    for (const event of events) if (event.stream === "seals") addToPlan(plan, event);
    const verifier = createLogVerifier({ keys, plan, kept: kept === undefined ? kept : checkpointOf(kept) });
    for (const event of events) verifier.add(event);
    const { remarks, missing } = verifier.end();
    return { remark: remarks[0], missing };
  };

  it("says of an event that no seal states that it can be forged", () => {
    const { remark, missing } = verify(restored());
    expect(remark).to.match(/^log revision 0 .* no seal says so: anyone who can write to the log /);
    expect(missing).to.equal(undefined);
  });

  it("refuses a missing seal that only an event explains", () => {
    expect(() => verify(restored(), sealOf(2).note)).to.throw(
      NotGenuine,
      "no seal has the size of the kept one",
    );
  });

  describe("and continued", () => {
    const original = duringTest(openTemporaryStore);
    let store: EventStore;
    let position: number;
    let kept: { readonly earlier: string; readonly lost: string };
    const website = { name: "example.com", origins: [] };
    const register = (log: ReturnType<typeof sealing>["log"], websiteId: string) =>
      log.append(`website-${websiteId}`, "WebsiteRegistered", { websiteId, ...website });

    /** Copies the log, which is sealed once more after the copy. */
    beforeEach(async () => {
      const { log, seals } = sealing(original.store);
      const path = join(original.folder, "copy.db");
      await register(log, "w1");
      const earlier = (await seals.seal(cli)).data.note;
      for (const copy of [path, join(original.folder, "second.db")])
        await copyDatabase(join(original.folder, "events.db"), copy);
      await register(log, "w2");
      kept = { earlier, lost: (await seals.seal(cli)).data.note };
      position = await lastPosition(path);
      store = await openSqliteEventStore({ path });
    });
    afterEach(() => store.close());

    const appendRestored = async (at = restoredAt): Promise<void> => {
      const data = { position, takenAt: restoredAt, seal: kept.earlier, at };
      const event = { id: randomUUID(), type: "LogRestored", data, metadata: cli };
      await store.append("log", [event], "none");
    };
    const restore = async (at = restoredAt): Promise<void> => {
      await appendRestored(at);
      await sealing(store).seals.sealRestored(at, cli);
    };
    const verifyWith = (note: string) => verifyLog(store, { keys, kept: checkpointOf(note) });

    it("explains a missing seal also if a later one has its size", async () => {
      await restore();
      expect(checkpointOf((await lastSeal()).note).size).to.equal(checkpointOf(kept.lost).size);
      const { missing, remarks } = await verifyWith(kept.lost);
      expect(missing).to.deep.equal({ position, events: 2 });
      expect(remarks[0]).to.equal(
        `restored from a backup at position ${position} at ${restoredAt}: what was recorded after the backup is missing`,
      );
    });

    it("proves a seal from before the backup", async () => {
      await restore();
      const { missing, remarks } = await verifyWith(kept.earlier);
      expect(missing).to.equal(undefined);
      expect(remarks[0]).to.match(/^restored from a backup at position /);
    });

    it("repeats in each later seal that it was restored", async () => {
      await restore();
      const { log, seals } = sealing(store);
      await register(log, "w3");
      await seals.seal(cli);
      expect(checkpointOf((await lastSeal()).note).restored).to.equal(restoredAt);
      expect((await verifyWith(kept.lost)).missing?.position).to.equal(position);
    });

    it("refuses a missing seal that a forged event would explain, after it is sealed", async () => {
      const { log, seals } = sealing(store);
      await appendRestored();
      await seals.seal(cli);
      await register(log, "w3");
      await seals.seal(cli);
      expect(await rejection(verifyWith(kept.lost))).to.be.instanceOf(NotGenuine);
      const { remarks } = await verifyWith(kept.earlier);
      expect(remarks[0]).to.match(/no seal says so/);
    });

    it("stays genuine if an event names another end of the backup, which no seal can state", async () => {
      const { log, seals } = sealing(store);
      await register(log, "w3");
      await appendRestored();
      await seals.seal(cli);
      const { remarks, missing } = await verifyWith(kept.earlier);
      expect(remarks[0]).to.match(/no seal says so/);
      expect(missing).to.equal(undefined);
      expect(await rejection(verifyWith(kept.lost))).to.be.instanceOf(NotGenuine);
      await seals.sealRestored(restoredAt, cli);
      expect(await rejection(verifyWith(kept.earlier)))
        .to.have.property("message")
        .that.includes("does not state the last restore");
    });

    it("stays genuine if an event names another seal than the last one before it", async () => {
      const { seals } = sealing(store);
      await seals.seal(cli);
      position = (await lastSealPosition()) ?? position;
      await appendRestored();
      await seals.seal(cli);
      expect((await verifyWith(kept.earlier)).remarks[0]).to.match(/no seal says so/);
    });

    it("refuses the loss of a seal that states the restore already", async () => {
      await restore();
      const { log, seals } = sealing(store);
      await register(log, "w3");
      const later = (await seals.seal(cli)).data.note;
      await store.close();
      store = await openSqliteEventStore({ path: join(original.folder, "second.db") });
      expect(await rejection(verifyWith(later))).to.be.instanceOf(NotGenuine);
      await restore("2026-11-06T11:00:00.000Z");
      expect((await verifyWith(later)).missing?.events).to.be.above(0);
    });

    it("refuses a kept seal from before the backup that the log does not contain", async () => {
      await restore();
      const checkpoint = checkpointOf(kept.earlier);
      const other = signer.sign(
        checkpointText({ ...checkpoint, root: Buffer.alloc(checkpoint.root.length) }),
      );
      expect(await rejection(verifyWith(other)))
        .to.have.property("message")
        .that.includes("is not the kept seal");
    });

    const lastSealPosition = async () => (await readLastEvent(store, "seals"))?.position;
    const lastSeal = async (): Promise<Sealed> => (await readLastEvent(store, "seals"))?.data as Sealed;
  });
});
