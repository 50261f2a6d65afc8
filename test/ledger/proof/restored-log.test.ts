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
import { copyDatabase, lastPosition } from "../../../src/eventstore/sqlite/copy-database.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { verifyLog } from "../../../src/ledger/proof/audit-verify.ts";
import { readSealedEvents } from "../../../src/ledger/proof/sealed-log.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite, duringTest } from "../../support/during.ts";
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
  const restored = (position = end): ProvenEvent[] => {
    const data = { position, takenAt: restoredAt, at: restoredAt };
    const place = { stream: "log", revision: 0, position: end + 1, id: randomUUID() };
    const created = Date.parse(restoredAt);
    return [...backedUp, { ...place, type: "LogRestored", data, created, metadata: {} }];
  };
  /** The first remark. The others are about times, which this log has invented. */
  const verify = (events: readonly ProvenEvent[], kept?: string): string | undefined => {
    const plan: SealPlan[] = [];
    for (const event of events) if (event.stream === "seals") addToPlan(plan, event);
    const verifier = createLogVerifier({ keys, plan, kept: kept === undefined ? kept : checkpointOf(kept) });
    for (const event of events) verifier.add(event);
    return verifier.end().remarks[0];
  };

  it("says that later events are missing", () => {
    const remark = `restored from a backup at position ${end} at ${restoredAt}: what was recorded after the backup is missing`;
    expect(verify(restored())).to.equal(remark);
    expect(verify(restored(), sealOf(1).note)).to.equal(remark);
  });

  it("explains that a kept seal which is later than the backup is missing", () => {
    const missing = sealOf(2).size - sealOf(1).size - 1;
    expect(verify(restored(), sealOf(2).note)).to.equal(
      `restored from a backup at position ${end}; ${missing} events are missing that the kept seal covers`,
    );
  });

  it("refuses an event that names another position than that at which the backup ended", () => {
    const message = /^log revision 0 .* names a position at which the log does not continue$/;
    for (const position of [end - 1, end + 1])
      expect(() => verify(restored(position))).to.throw(NotGenuine, message);
  });

  it("refuses a kept seal from before the backup that the log does not contain", () => {
    const kept = checkpointOf(sealOf(0).note);
    const other = signer.sign(checkpointText({ ...kept, root: Buffer.alloc(kept.root.length) }));
    expect(() => verify(restored(), other)).to.throw(NotGenuine, "is not the kept seal");
  });

  describe("and continued", () => {
    const original = duringTest(openTemporaryStore);

    it("explains a missing seal also if a later one has its size", async () => {
      const { log, seals } = sealing(original.store);
      const path = join(original.folder, "copy.db");
      const website = { name: "example.com", origins: [] };
      await log.append("website-w1", "WebsiteRegistered", { websiteId: "w1", ...website });
      await seals.seal(cli);
      await copyDatabase(join(original.folder, "events.db"), path);
      await log.append("website-w2", "WebsiteRegistered", { websiteId: "w2", ...website });
      const lost = await seals.seal(cli);
      const position = await lastPosition(path);
      const store = await openSqliteEventStore({ path });
      try {
        const copy = sealing(store);
        await copy.log.append("log", "LogRestored", { position, takenAt: restoredAt });
        expect((await copy.seals.seal(cli)).data.size).to.equal(lost.data.size);
        const { remarks } = await verifyLog(store, { keys, kept: checkpointOf(lost.data.note) });
        expect(remarks[0]).to.equal(
          `restored from a backup at position ${position}; 2 events are missing that the kept seal covers`,
        );
      } finally {
        await store.close();
      }
    });
  });
});
