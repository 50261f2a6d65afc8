import { expect } from "chai";
import { NotEndorsed } from "../../../src/domain/ledger/proof/not-genuine.ts";
import { createNoteSigner, type NoteSigner } from "../../../src/domain/ledger/seals/note-signer.ts";
import { createArchiveJournals } from "../../../src/ledger/archive/archive-journals.ts";
import { verifyLog } from "../../../src/ledger/proof/audit-verify.ts";
import { createSeals } from "../../../src/ledger/proof/seals.ts";
import { duringTest } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { keys, sealing, signer, verifierOf, verify } from "../proof/sealed-store.ts";
import {
  archiveFile,
  archiving,
  createMemoryFile,
  withoutJournals,
  writeOldJournals,
} from "./old-journals.ts";

const start = "2026-01-05T10:00:00.000Z";
const later = Date.parse(start) + 200 * 24 * 60 * 60_000;
const request = { before: new Date(later).toISOString().slice(0, 7) };
const cli = { actor: "cli" };
const old = ["old-1", "old-2", "old-3"];

describe("an archive of a log whose key of seals changes", () => {
  const opened = duringTest(() => openTemporaryStore(() => Date.parse(start)));
  const successor = createNoteSigner("voxledger/test", Buffer.alloc(32, 8));
  let sealed: ReturnType<typeof sealing>;

  beforeEach(async () => {
    sealed = sealing(opened.store, start);
    await writeOldJournals(sealed);
  });

  const sealsOf = (formerSigners: readonly NoteSigner[], isKeyLost: boolean) =>
    createSeals({
      ...{ store: opened.store, signer: successor, formerSigners, isKeyLost },
      keys: [successor, signer].map(verifierOf),
      clock: () => Date.parse(sealed.log.now()),
      requireMeasuredClock: async () => {},
    });
  const removed = () => withoutJournals(opened.store, old);

  it("is accepted if a given key endorsed the key that signed it", async () => {
    const file = createMemoryFile();
    const { archive } = createArchiveJournals({
      ...{ store: opened.store, seals: sealsOf([signer], false), signer: successor },
      keys: [verifierOf(successor)],
      clock: () => later,
    });
    await archive({ ...request, file }, cli);
    const archives = [archiveFile(file.content)];
    expect((await verifyLog(removed(), { keys })).missingArchives).to.have.length(1);
    expect((await verifyLog(removed(), { keys, archives })).missingArchives).to.deep.equal([]);
    const onlyNew = { keys: [verifierOf(successor)], archives };
    expect((await verifyLog(removed(), onlyNew)).missingArchives).to.deep.equal([]);
  });

  it("is accepted if the given key follows the key that signed it", async () => {
    const file = createMemoryFile();
    await archiving(sealed, opened.store, later).archive({ ...request, file }, cli);
    await sealsOf([signer], false).seal(cli);
    const archives = [archiveFile(file.content)];
    expect((await verifyLog(removed(), { keys, archives })).missingArchives).to.deep.equal([]);
    expect((await verifyLog(removed(), { keys })).missingArchives).to.have.length(1);
  });

  it("excuses nothing, and is a remark, if no given key leads to the key that signed it", async () => {
    const file = createMemoryFile();
    await archiving(sealed, opened.store, later).archive({ ...request, file }, cli);
    await sealsOf([], true).seal(cli);
    const given = { keys: [verifierOf(successor)] };
    const unknown = /^journals .* is not signed with a given key, nor with one that a given key endorsed$/;
    const { remarks } = await verifyLog(opened.store, given);
    expect(remarks.filter((remark) => unknown.test(remark))).to.have.length(1);
    const refused = await rejection(verifyLog(removed(), given));
    expect(refused).to.be.instanceOf(NotEndorsed);
    expect((refused as Error).message).to.match(unknown);
    const archives = [archiveFile(file.content)];
    expect((await verifyLog(removed(), { ...given, archives })).missingArchives).to.deep.equal([]);
  });

  it("is verified beside events of other programs", async () => {
    const { log } = sealed;
    await log.append("journal-42", "Booked", { amount: 5 });
    await log.append("seals", "Stamped", { animal: "harbour seal" });
    const file = createMemoryFile();
    await archiving(sealed, opened.store, later).archive({ ...request, file }, cli);
    await log.append("journal-43", "Booked", { amount: 5 });
    const archives = [archiveFile(file.content)];
    const complete = await verifyLog(opened.store, { keys });
    expect(complete.remarks.join()).to.include("2 events are of another program's journals");
    expect(await verifyLog(removed(), { keys, archives })).to.deep.equal(complete);
    const exported = await sealed.exported();
    const fromExport = await verify(exported, { keys, archives });
    expect(fromExport.missingArchives).to.deep.equal([]);
    expect(fromExport.remarks.join()).to.include("events in the stream seals are another program's");
  });
});
