import { expect } from "chai";
import { NotEndorsed, NotGenuine } from "../../../src/domain/ledger/proof/not-genuine.ts";
import { introduceKey } from "../../../src/domain/ledger/seals/endorsement.ts";
import { createNoteSigner, type NoteSigner } from "../../../src/domain/ledger/seals/note-signer.ts";
import type { Sealed } from "../../../src/domain/ledger/seals/seal.ts";
import { type Checkpoint, parseCheckpoint, parseNote } from "../../../src/domain/ledger/seals/seal-note.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { createAuditExport } from "../../../src/ledger/proof/audit-export.ts";
import { verifyLog } from "../../../src/ledger/proof/audit-verify.ts";
import { BadSeal, createSeals } from "../../../src/ledger/proof/seals.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { openLaggingStore } from "../../support/eventstoredb-process.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { createJournalledLog } from "./journalled-log.ts";
import { verifierOf, verify } from "./sealed-store.ts";

const keyOf = (byte: number, name = "voxledger/test") => createNoteSigner(name, Buffer.alloc(32, byte));
const [a, b, c, x] = [keyOf(1), keyOf(2), keyOf(3), keyOf(9)];
const system = { actor: "system" };

type Log = ReturnType<typeof createJournalledLog>;

/** An instance with these keys, the current one first. It knows the public keys of all others. */
const instance = (
  store: EventStore,
  log: Log,
  [signer, ...formerSigners]: readonly [NoteSigner, ...NoteSigner[]],
) => {
  const seals = createSeals({
    store,
    signer,
    formerSigners,
    keys: [a, b, c].map(verifierOf),
    clock: () => Date.parse(log.now()),
    requireMeasuredClock: async () => {},
  });
  return {
    seal: async (): Promise<Sealed> => {
      await log.append("website-w1", "OriginsChanged", { origins: [] });
      return (await seals.seal(system)).data;
    },
    handOver: () => seals.handOver(system),
    exported: async () =>
      Buffer.from((await collect(createAuditExport({ store, seals, signer })(system))).join("")),
  };
};

for (const [name, open] of [
  ["SQLite", openTemporaryStore],
  ["EventStoreDB", openLaggingStore],
] as const) {
  describe(`seals of a key that follows another one, with ${name}`, () => {
    const opened = duringTest(open);
    let log: Log;
    const as = (...keys: readonly [NoteSigner, ...NoteSigner[]]) => instance(opened.store, log, keys);
    const verifyWith = (...keys: readonly NoteSigner[]) =>
      verifyLog(opened.store, { keys: keys.map(verifierOf) });
    const refusal = async (...keys: readonly NoteSigner[]): Promise<Error> =>
      (await rejection(verifyWith(...keys))) as Error;

    beforeEach(async () => {
      log = createJournalledLog(opened.store, new Date().toISOString());
      const website = { websiteId: "w1", name: "example.com", origins: [] };
      await log.append("website-w1", "WebsiteRegistered", website);
      await as(a).seal();
    });

    it("are verified with the old key, in the log and in an export", async () => {
      const { position } = await as(a).seal();
      await as(b, a).seal();
      await as(b).seal();
      const exported = await as(b).exported();
      for (const summary of [await verifyWith(a), await verify(exported, { keys: [verifierOf(a)] })]) {
        expect(summary.remarks).to.deep.equal([]);
        const [first, second, ...others] = summary.keys;
        expect(others).to.deep.equal([]);
        expect(first).to.deep.equal({
          key: a.verifierKey,
          trust: "given",
          firstSeal: 0,
          lastSeal: 1,
          position,
        });
        expect(second).to.deep.include({
          ...{ key: b.verifierKey, trust: "endorsed", endorsedBy: a.verifierKey },
          ...{ firstSeal: 2, lastSeal: 4 },
        });
      }
    });

    it("follow a chain of keys", async () => {
      await as(b, a).seal();
      await as(c, b, a).seal();
      const { keys, seals } = await verifyWith(a);
      expect(seals).to.equal(3);
      expect(keys.map(({ key, endorsedBy }) => [key, endorsedBy])).to.deep.equal([
        [a.verifierKey, undefined],
        [b.verifierKey, a.verifierKey],
        [c.verifierKey, b.verifierKey],
      ]);
    });

    it("may alternate during a rolling restart, when all instances have both keys", async () => {
      const [former, current] = [as(a, b), as(b, a)];
      for (let round = 0; round < 2; round++) {
        await current.seal();
        await former.seal();
      }
      await Promise.all([current.seal(), former.seal(), current.seal(), former.seal()]);
      await as(b, a).seal();
      for (const key of [a, b]) expect((await verifyWith(key)).remarks).to.deep.equal([]);
    });

    it("are handed over once, and not in a log without seals of another key", async () => {
      await as(a).handOver();
      expect((await verifyWith(a)).seals).to.equal(1);
      await as(b, a).handOver();
      await as(b, a).handOver();
      await as(b).handOver();
      expect((await verifyWith(a)).seals).to.equal(2);
    });

    it("cover the seals before, so that the new key alone suffices", async () => {
      await as(b).seal();
      const { keys, remarks } = await verifyWith(b);
      expect(remarks).to.deep.equal([]);
      expect(keys.map(({ key, trust }) => [key, trust])).to.deep.equal([
        [a.verifierKey.split("+", 2).join("+"), "unknown"],
        [b.verifierKey, "given"],
      ]);
    });

    it("are not verified with the old key if it endorsed none, which is no sign of a change", async () => {
      const { position } = await as(a).seal();
      await as(b).seal();
      const error = await refusal(a);
      expect(error).to.be.instanceOf(NotEndorsed);
      expect(error.message).to.match(
        new RegExp(
          `^genuine up to position ${position}, but seals revision 2 .* is not signed with a given key`,
        ),
      );
      expect(error.message).to.include(b.verifierKey);
      expect((await verifyWith(a, b)).keys.map(({ trust }) => trust)).to.deep.equal(["given", "given"]);
    });

    it("are not verified with a key that has signed none", async () => {
      const error = await refusal(x);
      expect(error).to.be.instanceOf(NotEndorsed);
      expect(error.message).to.match(/^seals revision 0 .* is not signed with a given key/);
    });

    it("are not verified with the keys of another log, which the message says", async () => {
      const error = await refusal(keyOf(1, "voxledger/other"));
      expect(error).to.be.instanceOf(NotEndorsed);
      expect(error.message).to.equal(
        "the given keys are of another log: they are of voxledger/other, and the seals of voxledger/test",
      );
      const exported = await as(a).exported();
      const keys = [verifierOf(keyOf(1, "voxledger/other"))];
      expect(((await rejection(verify(exported, { keys }))) as Error).message).to.equal(error.message);
    });

    it("include a remark if the old key signs again without an endorsement", async () => {
      await as(b, a).seal();
      await as(a).seal();
      const { remarks } = await verifyWith(a);
      expect(remarks).to.have.lengthOf(1);
      expect(remarks[0]).to.match(/^seals revision 2 .* again, which another key had replaced/);
      expect(await refusal(b)).to.be.instanceOf(NotEndorsed);
    });

    it("include a remark if a seal of an unknown key lies between those of known ones", async () => {
      await as(b, a).seal();
      await as(c).seal();
      await as(b).seal();
      for (const key of [a, b]) {
        const { remarks } = await verifyWith(key);
        expect(remarks.at(-1)).to.match(
          /^seals revision 2 .*, which no given key endorsed\. Only seals revision 3 /,
        );
      }
    });

    it("do not continue a seal of an unknown key, unless that key is lost", async () => {
      const seals = (isKeyLost: boolean) =>
        createSeals({
          ...{ store: opened.store, signer: b, keys: [verifierOf(b)], isKeyLost },
          clock: () => Date.parse(log.now()),
          requireMeasuredClock: async () => {},
        });
      expect(await rejection(seals(false).seal(system))).to.be.instanceOf(BadSeal);
      const { data } = await seals(true).seal(system);
      expect(data.newKey).to.deep.equal({ key: b.verifierKey });
    });

    describe("after the master key was lost", () => {
      let lossPosition: number;
      const lose = async () => {
        const data = { reportId: "r", lostKeyId: "1", keyId: "2", reason: "fire" };
        await log.append("master-key", "MasterKeyReplaced", data);
        const events = await collect(opened.store.readStream("master-key"));
        lossPosition = events.at(-1)?.position ?? -1;
      };

      it("are verified only with the new key, and the old one says up to where the log is genuine", async () => {
        const { position } = await as(a).seal();
        await lose();
        await as(b).seal();
        await as(c, b).seal();
        const exported = await as(c).exported();
        const keys = [verifierOf(a)];
        for (const error of [await refusal(a), (await rejection(verify(exported, { keys }))) as Error]) {
          expect(error).to.be.instanceOf(NotEndorsed);
          expect(error.message)
            .to.include(`genuine up to position ${position}, but seals revision 2 `)
            .and.include(`its key is ${b.verifierKey}. The log says at position ${lossPosition}`);
        }
        expect((await verifyWith(a, b)).remarks).to.deep.equal([]);
        expect((await verifyWith(c)).remarks).to.deep.equal([]);
      });

      it("include a remark if the lost key signs again", async () => {
        await lose();
        await as(b).seal();
        await as(a).seal();
        for (const keys of [[a], [a, b]]) {
          const { remarks } = await verifyWith(...keys);
          expect(remarks[0]).to.match(/^seals revision 2 .* again, which another key had replaced/);
        }
      });

      it("are no remark if the old seal key was not lost", async () => {
        await lose();
        await as(a).seal();
        expect((await verifyWith(a)).remarks).to.deep.equal([]);
      });

      it("are not explained by a loss that an earlier seal covers", async () => {
        await lose();
        await as(a).seal();
        await as(b).seal();
        expect((await refusal(a)).message).not.to.include("was lost");
      });
    });
  });
}

describe("the seals of a key that was replaced", () => {
  const genuine = duringTest(openTemporaryStore);
  const forged = duringTest(openTemporaryStore);
  let first: Sealed;
  let handOver: Sealed;

  const begin = async (store: EventStore, name: string): Promise<Log> => {
    const log = createJournalledLog(store, new Date().toISOString());
    await log.append("website-w1", "WebsiteRegistered", { websiteId: "w1", name, origins: [] });
    return log;
  };
  /** The forged log, whose next seal gets these members. */
  const sealForged = async (log: Log, signer: NoteSigner, members: Partial<Sealed> = {}): Promise<Sealed> => {
    const append: EventStore["append"] = (stream, events, expected) =>
      forged.store.append(
        stream,
        events.map((event) => ({ ...event, data: { ...Object(event.data), ...members } })),
        expected,
      );
    const store = { ...forged.store, append };
    const keys = [a, b, x].map(verifierOf);
    const clock = () => Date.parse(log.now());
    const seals = createSeals({ store, signer, keys, clock, requireMeasuredClock: async () => {} });
    return (await seals.seal(system)).data;
  };
  const refusal = async (keys: readonly NoteSigner[], kept?: Checkpoint): Promise<Error> =>
    (await rejection(verifyLog(forged.store, { keys: keys.map(verifierOf), kept }))) as Error;

  beforeEach(async () => {
    const log = await begin(genuine.store, "example.com");
    first = await instance(genuine.store, log, [a]).seal();
    handOver = await instance(genuine.store, log, [b, a]).seal();
  });

  it("cannot be rewritten by the holder of the new key, for an auditor with the old key", async () => {
    const { newKey } = handOver;
    if (!newKey?.endorsement) throw new Error("the key was not endorsed");
    const log = await begin(forged.store, "forged.example");
    await sealForged(log, x);
    await sealForged(log, b, { newKey });
    await sealForged(log, b, { newKey });
    expect(await refusal([a])).to.be.instanceOf(NotEndorsed);
  });

  it("endorse only the stated key, with the right signature, for their own tree", async () => {
    const { newKey } = handOver;
    if (!newKey?.endorsement) throw new Error("the key was not endorsed");
    const ofOtherKey = introduceKey(x.verifierKey, a, { origin: a.name, size: 1, root: new Uint8Array(32) });
    const wrong: readonly Sealed["newKey"][] = [
      newKey, // It is for the tree of the other log.
      { key: b.verifierKey },
      { key: b.verifierKey, endorsement: "" },
      { key: b.verifierKey, endorsement: newKey.endorsement.replace(a.name, x.name) },
      { key: b.verifierKey, endorsement: first.note },
      { ...ofOtherKey, key: b.verifierKey },
      ofOtherKey,
    ];
    const log = await begin(forged.store, "example.com");
    for (const stated of wrong) {
      await sealForged(log, a);
      await sealForged(log, b, stated && { newKey: stated });
      expect(await refusal([a]), JSON.stringify(stated)).to.be.instanceOf(NotEndorsed);
    }
  });

  it("cannot be moved to an edited log", async () => {
    const log = await begin(forged.store, "forged.example");
    await sealForged(log, x, first);
    await forged.store.append(
      "seals",
      [{ id: crypto.randomUUID(), type: "Sealed", data: handOver, metadata: system }],
      0,
    );
    expect(await refusal([a]))
      .to.be.instanceOf(NotGenuine)
      .and.not.instanceOf(NotEndorsed);
  });

  it("are not verified with a kept seal of another log, even if it has the same size", async () => {
    const log = await begin(forged.store, "forged.example");
    await log.append("website-w1", "OriginsChanged", { origins: [] });
    const other = keyOf(1, "voxledger/other");
    const { note } = await sealForged(log, other);
    const checkpoint = parseCheckpoint(parseNote(note)?.text ?? "");
    if (checkpoint?.size !== first.size) throw new Error("the seal has another size");
    const verifyGenuine = async (key: NoteSigner): Promise<Error> => {
      const options = { keys: [verifierOf(key)], kept: { ...checkpoint, note } };
      return (await rejection(verifyLog(genuine.store, options))) as Error;
    };
    for (const [key, message] of [
      [a, "the kept seal is not signed with a given key"],
      [other, "the given keys are of another log: "],
    ] as const) {
      const error = await verifyGenuine(key);
      expect(error).to.be.instanceOf(NotEndorsed);
      expect(error.message).to.include(message);
    }
  });

  it("cannot be forked by whoever has the old key, for an auditor who kept a later seal", async () => {
    const { note } = handOver;
    const checkpoint = parseCheckpoint(parseNote(note)?.text ?? "");
    if (!checkpoint) throw new Error("the seal has no checkpoint");
    const kept = { ...checkpoint, note };
    const options = { keys: [verifierOf(a)], kept };
    expect((await verifyLog(genuine.store, options)).seals).to.equal(2);
    const log = await begin(forged.store, "example.com");
    for (let seal = 0; seal < 4; seal++) await instance(forged.store, log, [a]).seal();
    for (const keys of [[a, b], [b]]) expect(await refusal(keys, kept)).to.be.instanceOf(NotGenuine);
    // The forged log lacks the endorsement of the key that signed the kept seal.
    expect((await refusal([a], kept)).message).to.match(/^the kept seal is not signed with a given key/);
  });
});
