import { createHash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import fc from "fast-check";
import { createLogVerifier, type LogSummary } from "../../../src/domain/ledger/proof/log-verifier.ts";
import { NotGenuine } from "../../../src/domain/ledger/proof/not-genuine.ts";
import { addToPlan, type SealPlan } from "../../../src/domain/ledger/proof/seal-check.ts";
import { createNoteSigner } from "../../../src/domain/ledger/seals/note-signer.ts";
import type { ProvenEvent } from "../../../src/domain/ledger/seals/proven-event.ts";
import type { Sealed } from "../../../src/domain/ledger/seals/seal.ts";
import {
  type Checkpoint,
  checkpointText,
  openNote,
  parseCheckpoint,
} from "../../../src/domain/ledger/seals/seal-note.ts";
import { type VerifiedLog, verifyLog } from "../../../src/ledger/proof/audit-verify.ts";
import { duringSuite } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { keys, sealing, signer, verifierOf, verify, writeBusyDay } from "./sealed-store.ts";

/** The lines, each with its newline. */
const linesOf = (exported: Buffer): string[] => exported.toString().split(/(?<=\n)/);

const refusal = async (verified: Promise<unknown>): Promise<string> => {
  const error = await rejection(verified);
  if (!(error instanceof NotGenuine)) throw error;
  return error.message;
};

describe("the verification of an export", () => {
  const temporary = duringSuite(openTemporaryStore);
  let sealed: ReturnType<typeof sealing>;
  let exported: Buffer;
  let lines: string[];

  before(async () => {
    sealed = sealing(temporary.store);
    await writeBusyDay(sealed);
    exported = await sealed.exported();
    lines = linesOf(exported);
  });

  const problem = async (edited: Buffer | readonly string[]): Promise<string> => {
    const bytes = edited instanceof Buffer ? edited : Buffer.from(edited.join(""));
    if (bytes.equals(exported)) return "the export is unchanged";
    return await refusal(verify(bytes));
  };

  it("accepts the genuine export, and the log that it was made from", async () => {
    expect(await verify(exported)).to.deep.include({ events: 20, seals: 4, unsealed: 0 });
    expect(await verifyLog(temporary.store, { keys })).to.deep.include({ events: 20, seals: 4, unsealed: 0 });
  });

  it("withholds secrets from the export", () => {
    expect(exported.toString()).not.to.include("5ec2e7");
  });

  it("finds every flipped bit, and names the line", () =>
    fc.assert(
      fc.asyncProperty(fc.nat(exported.length - 1), fc.nat(7), async (index, bit) => {
        const edited = Buffer.from(exported);
        edited[index] = (edited[index] as number) ^ (1 << bit);
        const line = exported.subarray(0, index).filter((byte) => byte === 0x0a).length;
        const isInLastLine = line === lines.length - 1;
        expect(await problem(edited)).to.match(
          isInLastLine ? /export|line/ : new RegExp(`^line ${line} was changed`),
        );
      }),
      { numRuns: 2_000 },
    ));

  it("finds every dropped, doubled, swapped or inserted line, and every cut tail, and names the first", () =>
    fc.assert(
      fc.asyncProperty(fc.nat(lines.length - 2), fc.nat(lines.length - 2), async (some, other) => {
        const [low, high] = [Math.min(some, other), Math.max(some, other)];
        const dropped = await problem(lines.toSpliced(low, 1));
        expect(dropped).to.include(low < lines.length - 2 ? `line ${low} is missing` : "other lines");
        expect(await problem(lines.toSpliced(low, 0, lines[low] as string))).to.include(
          `line ${low} was doubled`,
        );
        if (low < high) {
          const swapped = lines.with(low, lines[high] as string).with(high, lines[low] as string);
          expect(await problem(swapped)).to.include(`line ${low} is missing`);
          expect(await problem(lines.toSpliced(low, 0, lines[high] as string))).to.include(
            `line ${low} is missing`,
          );
          expect(await problem(lines.toSpliced(high, 0, lines[low] as string))).to.include(
            `line ${low} was doubled`,
          );
        }
        expect(await problem(lines.slice(0, low))).to.include("cut off after");
        expect(await problem([...lines.slice(0, low), lines.at(-1) as string])).to.include("other lines");
      }),
      { numRuns: 300 },
    ));

  it("finds a cut at every byte", () =>
    fc.assert(
      fc.asyncProperty(fc.nat(exported.length - 1), async (length) => {
        expect(await problem(exported.subarray(0, length))).to.include("cut off");
      }),
    ));

  it("finds lines of another export of the same log, and lines after the end", async () => {
    const later = linesOf(await sealed.exported());
    expect(await problem([...lines.slice(0, -1), later.at(-1) as string])).to.include("signature");
    expect(await problem([...lines, lines.at(-1) as string])).to.include(
      `line ${lines.length} follows the end`,
    );
    expect((await verify(Buffer.from(later.join("")))).seals).to.equal(5);
  });

  it("refuses an export that was signed with another key, even of the same name", async () => {
    const other = createNoteSigner("voxledger/test", Buffer.alloc(32, 8));
    expect(await refusal(verify(exported, { keys: [verifierOf(other)] }))).to.include(
      "is not signed with a given key",
    );
    expect(await refusal(verify(exported, { keys: [] }))).to.include("is not signed with a given key");
  });
});

describe("the verification of a log", () => {
  it("finds a malformed seal, although later seals are well-formed", async () => {
    const { store, remove } = await openTemporaryStore();
    const sealed = sealing(store);
    const { data } = await sealed.seals.seal({ actor: "system" });
    await sealed.log.append("seals", "Sealed", { note: "none" });
    await sealed.log.append("seals", "Sealed", data);
    try {
      expect(await refusal(verifyLog(store, { keys }))).to.match(/^seals revision 1 .* is malformed/);
    } finally {
      await remove();
    }
  });

  /** Verifies the log of a busy day after SQL has changed its file. */
  const verifyChanged = async (change: string, ...values: string[]): Promise<VerifiedLog> => {
    const { store, folder, remove } = await openTemporaryStore();
    try {
      await writeBusyDay(sealing(store));
      const db = new DatabaseSync(join(folder, "events.db"));
      expect(db.prepare(change).run(...values).changes).to.equal(1);
      db.close();
      return await verifyLog(store, { keys });
    } finally {
      await remove();
    }
  };
  const inRow = "WHERE stream = (SELECT id FROM streams WHERE name = ?) AND revision = ?";

  it("counts what no seal covers", async () => {
    const touched = await verifyChanged("UPDATE events SET created = created + 0 WHERE position = 1");
    expect(touched).to.deep.include({ events: 19, seals: 3, unsealed: 1, uncovered: 1 });
  });

  it("finds an event of a sealed stream's kind, and a malformed one, in a stream that is never sealed", async () => {
    const rate = [`UPDATE events SET body = ? ${inRow}`, "rate-i1", "0"] as const;
    const data = { secretId: "s", hash: "5ec2e7", at: "2026-11-05T10:00:00.000Z" };
    for (const [type, body] of [
      ["SecretCreated", `"type":"SecretCreated","data":${JSON.stringify(data)},"metadata":{}`],
      ["RequestsCounted", `"type":"RequestsCounted","data":{"minute":1},"metadata":{}`],
      ["", `"type":"RequestsCounted","data":{}}, {"type":"SecretCreated","data":{},"metadata":{}`],
    ] as const) {
      const [change, ...row] = rate;
      expect(await refusal(verifyChanged(change, body, ...row))).to.match(
        new RegExp(`^rate-i1 revision 0 \\(${type}, .* is malformed, or belongs to another kind of stream$`),
      );
    }
  });

  it("finds a number that is read as infinity, and minus zero, which other forms would state as null and 0", async () => {
    for (const [from, to] of [
      ['"monthlyCharacters":null', '"monthlyCharacters":1e999'],
      ['"monthlyCharacters":null', '"monthlyCharacters":null,"more":1e999'],
      ['"monthlyCharacters":null', '"monthlyCharacters":null,"more":-0'],
      ['"metadata":{', '"metadata":{"more":-1e999,'],
    ] as const) {
      const change = `UPDATE events SET body = replace(body, ?, ?) ${inRow}`;
      expect(await refusal(verifyChanged(change, from, to, "key-k1", "0")), to).to.match(
        /^key-k1 revision 0 .*(is malformed|has no canonical form)/,
      );
    }
  });

  it("finds a withheld member that was replaced by its own digest", async () => {
    const digest = createHash("sha256").update('"5ec2e7"').digest("hex");
    const change = `UPDATE events SET body = replace(body, ?, ?) ${inRow}`;
    expect(
      await refusal(verifyChanged(change, '"5ec2e7"', `{"sha256":"${digest}"}`, "key-k1", "1")),
    ).to.match(/^key-k1 revision 1 .* is malformed/);
  });
});

describe("the verification of events without their lines' digests", () => {
  const temporary = duringSuite(openTemporaryStore);
  let events: ProvenEvent[];

  before(async () => {
    const sealed = sealing(temporary.store);
    await writeBusyDay(sealed);
    events = linesOf(await sealed.exported())
      .slice(0, -1)
      .map((line) => {
        const { digest, line: index, ...event } = JSON.parse(line);
        return event;
      });
  });

  const verifyEvents = (list: readonly ProvenEvent[], kept?: string): LogSummary => {
    const plan: SealPlan[] = [];
    for (const event of list) if (event.stream === "seals") addToPlan(plan, event, () => false);
    const checkpoint = kept === undefined ? undefined : parseCheckpoint(openNote(kept, keys) ?? "");
    const verifier = createLogVerifier({ keys, plan, kept: checkpoint });
    for (const event of list) verifier.add(event);
    return verifier.end();
  };

  it("is prepared with the heads of missing journals only", () => {
    const headsOf = (isAbsent: (journal: string) => boolean): string[] => {
      const plan: SealPlan[] = [];
      for (const event of events) if (event.stream === "seals") addToPlan(plan, event, isAbsent);
      return plan.flatMap(({ heads }) => heads.map(({ journal }) => journal));
    };
    expect(headsOf(() => false)).to.deep.equal([]);
    expect(new Set(headsOf((journal) => journal === "j1"))).to.deep.equal(new Set(["j1"]));
  });

  const problem = (list: readonly ProvenEvent[], kept?: string): string => {
    try {
      verifyEvents(list, kept);
    } catch (error) {
      if (error instanceof NotGenuine) return error.message;
      throw error;
    }
    return "none";
  };
  const indexOf = (stream: string, revision: number): number =>
    events.findIndex((event) => event.stream === stream && event.revision === revision);
  const edited = (stream: string, revision: number, changes: Partial<ProvenEvent>): ProvenEvent[] => {
    const index = indexOf(stream, revision);
    return events.with(index, { ...(events[index] as ProvenEvent), ...changes });
  };
  /** A forger who renumbers what follows. */
  const without = (stream: string, revision: number): ProvenEvent[] =>
    events
      .filter((event) => event.stream !== stream || event.revision !== revision)
      .map((event) =>
        event.stream === stream && event.revision > revision
          ? { ...event, revision: event.revision - 1 }
          : event,
      );

  it("accepts the genuine events", () => {
    expect(verifyEvents(events)).to.deep.include({ events: 20, seals: 4 });
  });

  it("finds every changed member of a sealed event, and of an event of a journal", () => {
    for (const [index, event] of events.slice(0, -1).entries()) {
      const changes: Partial<ProvenEvent>[] = [
        { type: "Other" },
        { data: { ...event.data, at: "2026-11-05T10:00:00.001Z" } },
        { data: { ...event.data, more: true } },
        { id: "other" },
        { metadata: {} },
        { created: 1 },
        { position: event.position + 0.5 },
      ];
      for (const change of changes) {
        const found = problem(events.with(index, { ...event, ...change }));
        expect(found, `${event.stream} ${event.revision} ${JSON.stringify(change)}`).not.to.equal("none");
      }
    }
  });

  it("finds every dropped event, even if the following ones are renumbered", () => {
    for (const { stream, revision } of events) {
      if (stream === "seals" && revision === 3) continue;
      expect(problem(events.toSpliced(indexOf(stream, revision), 1)), `${stream} ${revision}`).not.to.equal(
        "none",
      );
      expect(problem(without(stream, revision)), `${stream} ${revision}`).not.to.equal("none");
    }
  });

  it("names the event of a journal that was changed or dropped", () => {
    const { data } = events[indexOf("journal-j1", 1)] as ProvenEvent;
    expect(problem(edited("journal-j1", 1, { data: { ...data, characters: [0] } }))).to.match(
      /^journal-j1 revision 1 .* was changed: revision 2 names another predecessor$/,
    );
    expect(problem(events.toSpliced(indexOf("journal-j1", 1), 1))).to.match(
      /^journal-j1 revision 1 is missing/,
    );
    expect(problem(without("journal-j1", 1))).to.include("journal-j1 revision 0");
  });

  it("finds a journal's tail that was cut off after a seal", () => {
    const last = events.findLastIndex(({ stream }) => stream === "journal-j2");
    const { revision } = events[last] as ProvenEvent;
    expect(problem(events.toSpliced(last, 1))).to.equal(
      `journal-j2 revision ${revision} is missing: seal 3 covers it`,
    );
    expect(problem(events.filter(({ stream }) => stream !== "journal-j2"))).to.include(
      "is missing: seal 1 covers it",
    );
  });

  it("names the seal that covers a changed, dropped or added event of another stream", () => {
    const data = { ...events[indexOf("key-k1", 0)]?.data, websiteId: "w2" };
    expect(problem(edited("key-k1", 0, { data }))).to.match(
      /^an event was changed or moved .* seal 0 covers$/,
    );
    expect(problem(without("key-k1", 2))).to.match(/^1 events are missing .* seal 1 covers$/);
    const added = { ...(events[0] as ProvenEvent), stream: "website-w2", id: "new", position: 0.5 };
    expect(
      problem([
        ...events.slice(0, 1),
        { ...added, position: (events[0] as ProvenEvent).position + 0.5 },
        ...events.slice(1),
      ]),
    ).to.match(/^1 events are added .* seal 0 covers$/);
  });

  it("finds doubled and swapped events", () => {
    for (const [index, event] of events.entries()) {
      expect(problem(events.toSpliced(index, 0, event))).to.match(/was doubled or moved/);
      const next = events[index + 1];
      if (next) expect(problem(events.with(index, next).with(index + 1, event))).not.to.equal("none");
    }
  });

  it("cannot find a log that ends at an earlier seal, unless the auditor has kept a later one", () => {
    const end = events.filter(
      ({ position }) => position <= (events[indexOf("seals", 1)] as ProvenEvent).position,
    );
    const noteOf = (seal: number) => ((events[indexOf("seals", seal)] as ProvenEvent).data as Sealed).note;
    expect(problem(end)).to.equal("none");
    expect(problem(end, noteOf(1))).to.equal("none");
    expect(problem(end, noteOf(2))).to.include("no seal has the size of the kept one");
    expect(problem(events, noteOf(2))).to.equal("none");
  });

  it("names the seal that has the size of the kept one, and another root", () => {
    const { note } = (events[indexOf("seals", 1)] as ProvenEvent).data as Sealed;
    const kept = parseCheckpoint(openNote(note, keys) ?? "") as Checkpoint;
    const other = signer.sign(checkpointText({ ...kept, root: Buffer.alloc(kept.root.length) }));
    expect(problem(events, other)).to.match(
      /^seals revision 1 .* is not the kept seal: the log was rewritten before it$/,
    );
  });

  it("refuses a log without a seal", () => {
    expect(problem([])).to.equal("there is no seal");
    expect(problem(events.filter(({ stream }) => stream !== "seals"))).to.equal("there is no seal");
  });
});
