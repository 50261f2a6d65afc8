import { join } from "node:path";
import { expect } from "chai";
import { NotEndorsed, NotGenuine } from "../../../src/domain/ledger/proof/not-genuine.ts";
import { createNoteSigner, type NoteSigner } from "../../../src/domain/ledger/seals/note-signer.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { copyDatabase, lastPosition } from "../../../src/eventstore/sqlite/copy-database.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { verifyLog } from "../../../src/ledger/proof/audit-verify.ts";
import { createSeals } from "../../../src/ledger/proof/seals.ts";
import { duringTest } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { sealing, signer, verifierOf } from "./sealed-store.ts";

const forger = createNoteSigner("voxledger/test", Buffer.alloc(32, 66));
const successor = createNoteSigner("voxledger/test", Buffer.alloc(32, 8));
const at = "2026-11-05T11:00:00.000Z";
const loss = { reportId: "r1", lostKeyId: "old", keyId: "new", reason: "lost", at };
const cli = { actor: "cli" };

describe("an earlier copy of a log with a forged restore and a forged loss of the master key", () => {
  const original = duringTest(openTemporaryStore);
  let store: EventStore;
  let note: string;

  const sealsOf = (by: NoteSigner) =>
    createSeals({
      ...{ store, signer: by, keys: [verifierOf(by)], isKeyLost: true },
      clock: () => Date.parse(at),
      requireMeasuredClock: async () => {},
    });
  const verify = (...keys: readonly NoteSigner[]) =>
    verifyLog(store, { keys: keys.map(verifierOf), kept: { ...keptCheckpoint(), note } });
  let keptCheckpoint: () => { origin: string; size: number; root: Buffer };

  beforeEach(async () => {
    const { log, seals } = sealing(original.store);
    const website = { name: "example.com", origins: [] };
    await log.append("website-w1", "WebsiteRegistered", { websiteId: "w1", ...website });
    const seal = (await seals.seal(cli)).data.note;
    const path = join(original.folder, "copy.db");
    await copyDatabase(join(original.folder, "events.db"), path);
    await log.append("website-w2", "WebsiteRegistered", { websiteId: "w2", ...website });
    note = (await seals.seal(cli)).data.note;
    const [origin = "", size, root = ""] = note.split("\n");
    keptCheckpoint = () => ({ origin, size: Number(size), root: Buffer.from(root, "base64") });
    const position = await lastPosition(path);
    store = await openSqliteEventStore({ path });
    const event = { id: "01a0c2f4-0000-7000-8000-000000000001", metadata: cli };
    const restore = { position, takenAt: at, seal, at };
    await store.append("log", [{ ...event, type: "LogRestored", data: restore }], "none");
    const replaced = { ...event, id: "01a0c2f4-0000-7000-8000-000000000002", data: loss };
    await store.append("master-key", [{ ...replaced, type: "MasterKeyReplaced" }], "none");
    await sealsOf(forger).sealRestored(at, cli);
  });
  afterEach(() => store.close());

  it("is not verified with the key of the kept seal", async () => {
    const error = await rejection(verify(signer));
    expect(error).to.be.instanceOf(NotEndorsed);
    expect(error).to.have.property("message").that.includes("The log says at position");
  });

  it("is not excused by a new key that continues it after a loss of the master key", async () => {
    await sealsOf(successor).seal(cli);
    expect(await rejection(verify(signer, successor))).to.be.instanceOf(NotGenuine);
    const { remarks } = await verifyLog(store, { keys: [signer, successor].map(verifierOf) });
    expect(remarks.some((remark) => remark.includes("which no given key endorsed"))).to.equal(true);
    expect(remarks.some((remark) => remark.includes("the first seal that says so is of a key"))).to.equal(
      true,
    );
  });

  it("is explained to those who trust the key that states the restore", async () => {
    await sealsOf(successor).seal(cli);
    expect((await verify(signer, forger, successor)).missing?.events).to.be.above(0);
  });
});
