import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect } from "chai";
import fc from "fast-check";
import { keys as keysProjection } from "../../../../projections/keys.ts";
import { createSnapshotFiles } from "../../../../projections/runner/snapshot-files.ts";
import { Unavailable } from "../../../../src/domain/errors.ts";
import { verifyKeyMonth } from "../../../../src/domain/ledger/proof/key-month-verifier.ts";
import { NotGenuine } from "../../../../src/domain/ledger/proof/not-genuine.ts";
import { isCovered, type Sealed } from "../../../../src/domain/ledger/seals/seal.ts";
import { openNote, parseCheckpoint } from "../../../../src/domain/ledger/seals/seal-note.ts";
import { UnsupportedLogFormat } from "../../../../src/domain/log-format.ts";
import { EventStoreUnavailable } from "../../../../src/eventstore/event-store.ts";
import { readLog } from "../../../../src/eventstore/follow-events.ts";
import { type VerifiedLog, verifyLog } from "../../../../src/ledger/proof/audit-verify.ts";
import { createKeyMonthExport } from "../../../../src/ledger/proof/key-month-export.ts";
import { withTemporaryFolder } from "../../../support/child-process.ts";
import { collect } from "../../../support/collect.ts";
import { duringSuite } from "../../../support/during.ts";
import { rejection } from "../../../support/rejection.ts";
import { testSeed } from "../../../support/sample.ts";
import { openTemporaryStore } from "../../../support/temporary-store.ts";
import { keys, sealing, signer, verify } from "../sealed-store.ts";
import { EditedLog } from "./edited-log.ts";
import { anyEdit, applyEdit, type Edit, editText } from "./edits.ts";
import { writeEveryKind } from "./every-kind.ts";
import { coveredEvents, grantsOf } from "./grants.ts";

/** How many edits. The long form has 100,000: `EDITS=100000 mocha test/ledger/proof/edits`. */
const edits = Number(process.env.EDITS ?? 2_000);
const timeoutMs = 300_000 + 50 * edits;

describe(`an edit of a log (seed ${testSeed})`, () => {
  const temporary = duringSuite(openTemporaryStore);
  let log: EditedLog;
  let original: {
    readonly grants: string;
    readonly covered: string;
    readonly rows: ReturnType<EditedLog["dump"]>;
  };
  let sealed: Sealed;

  before(async () => {
    await writeEveryKind(temporary.store);
    const seals = await collect(temporary.store.readStream("seals"));
    sealed = seals.at(-1)?.data as Sealed;
    log = new EditedLog(join(temporary.folder, "events.db"));
    original = {
      grants: await grantsOf(log.store),
      covered: await coveredEvents(log.store, sealed.position),
      rows: log.dump(),
    };
  });
  after(async () => {
    log.close();
  });

  /**
   * The auditor has kept the last seal. Undefined: the log is not genuine, or it cannot be read.
   */
  const verifyEdited = async (): Promise<VerifiedLog | undefined> => {
    const kept = parseCheckpoint(openNote(sealed.note, keys) ?? "");
    try {
      return await verifyLog(log.store, { keys, kept });
    } catch (error) {
      const isRefusal = error instanceof Unavailable || error instanceof UnsupportedLogFormat;
      if (error instanceof NotGenuine || isRefusal) return undefined;
      throw error;
    }
  };

  /** The names that the edited rows' streams had and have. */
  const editedStreams = (): string[] => {
    const rows = log.dump();
    const positions = new Set([...original.rows.keys(), ...rows.keys()]);
    return [...positions].flatMap((position) => {
      const [before, after] = [original.rows.get(position), rows.get(position)];
      if (before?.text === after?.text) return [];
      return [before?.name, after?.name].filter((name) => typeof name === "string");
    });
  };

  /** Undefined: the log cannot be read, so nothing is granted. */
  const readGrants = async (): Promise<string | undefined> => {
    try {
      return await grantsOf(log.store);
    } catch (error) {
      if (error instanceof EventStoreUnavailable || error instanceof Unavailable) return undefined;
      throw error;
    }
  };

  const check = async (edit: Edit): Promise<"found" | "without effect"> => {
    applyEdit(log, edit);
    const verified = await verifyEdited();
    if (!editedStreams().some(isCovered)) {
      expect(await readGrants(), "grants").to.be.oneOf([original.grants, undefined]);
    }
    if (!verified) return "found";
    expect(await coveredEvents(log.store, sealed.position), "covered events").to.equal(original.covered);
    const later = (await collect(readLog(log.store))).filter(
      ({ stream, position }) => isCovered(stream) && stream !== "seals" && position > sealed.position,
    );
    expect(verified.unsealed, "later events").to.equal(later.length);
    return "without effect";
  };

  it("is genuine before it is edited", async () => {
    expect(await verifyEdited()).to.deep.include({ seals: 3 });
  });

  it("is found, or changes nothing that the last seal covers; in a stream without seals it changes no grants", async () => {
    const outcomes = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(anyEdit, (edit) =>
        log.edited(async () => {
          const outcome = `${edit.kind}: ${await check(edit)}`;
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        }),
      ),
      { numRuns: edits, seed: testSeed },
    );
    if (process.env.EDITS) console.log(Object.fromEntries([...outcomes].sort()));
  }).timeout(timeoutMs);
});

/** Replaces some bytes, or one value of the JSON, in one of the lines. */
const editLine = (text: string, edit: Extract<Edit, { kind: "bytes" | "token" }>): Buffer => {
  const lines = text.split(/(?<=\n)/);
  const index = edit.row % lines.length;
  return Buffer.concat([
    Buffer.from(lines.slice(0, index).join("")),
    editText(lines[index] as string, edit),
    Buffer.from(lines.slice(index + 1).join("")),
  ]);
};
const anyLineEdit = anyEdit.filter((edit) => edit.kind === "bytes" || edit.kind === "token");

describe(`an edit of an export (seed ${testSeed})`, () => {
  const temporary = duringSuite(openTemporaryStore);
  const exports: Record<"log" | "key's month", string> = { log: "", "key's month": "" };
  const keyMonth = { apiKey: "k2", month: "2026-11" };

  before(async () => {
    const { store } = temporary;
    await writeEveryKind(store);
    const { seals, exported } = sealing(store);
    exports.log = (await exported()).toString();
    const exportKeyMonth = createKeyMonthExport({ store, seals, signer, clock: Date.now });
    exports["key's month"] = (await collect(exportKeyMonth(keyMonth))).join("");
  });

  const verifiers = {
    log: (bytes: Buffer) => verify(bytes),
    "key's month": (bytes: Buffer) => verifyKeyMonth(Readable.from([bytes]), keys, keyMonth),
  };
  for (const what of ["log", "key's month"] as const) {
    it(`of a ${what} is found`, async () => {
      await verifiers[what](Buffer.from(exports[what]));
      await fc.assert(
        fc.asyncProperty(anyLineEdit, async (edit) => {
          const edited = editLine(exports[what], edit);
          fc.pre(!edited.equals(Buffer.from(exports[what])));
          expect(await rejection(verifiers[what](edited))).to.be.instanceOf(NotGenuine);
        }),
        { numRuns: Math.ceil(edits / 10), seed: testSeed },
      );
    }).timeout(timeoutMs);
  }
});

describe(`an edit of a snapshot (seed ${testSeed})`, () => {
  it("makes it ignored", () =>
    withTemporaryFolder(async (folder) => {
      const files = createSnapshotFiles(folder, { logId: "log-1", keys: [Buffer.alloc(32, 1)] });
      const secrets = { s1: { hash: "5ec2e7", revoked: false } };
      const partitions = ["key-k1", "key-k2"].map(
        (name, position) => [name, { position, state: { secrets } }] as const,
      );
      const place = { position: 5, id: "7d3f0a53-0000-4000-8000-000000000000" };
      await files.save(keysProjection, new Map(partitions), () => ({ allUpTo: place, noneAfter: place }));
      const original = await files.load(keysProjection);
      expect(original?.partitions.size).to.equal(2);
      const [file = ""] = await readdir(folder);
      const text = await readFile(join(folder, file), "utf8");
      await fc.assert(
        fc.asyncProperty(anyLineEdit, async (edit) => {
          await writeFile(join(folder, file), editLine(text, edit));
          // Bytes after the end, and hexadecimal digits in the other case, change nothing.
          expect(await files.load(keysProjection)).to.be.deep.oneOf([undefined, original]);
        }),
        { numRuns: Math.ceil(edits / 10), seed: testSeed },
      );
    })).timeout(timeoutMs);
});
