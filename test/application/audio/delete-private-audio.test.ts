import { expect } from "chai";
import { createDeletePrivateAudio } from "../../../src/application/audio/delete-private-audio.ts";
import { Archived, type ArchivedPart } from "../../../src/domain/errors.ts";
import type { Audit } from "../../../src/ledger/audit/audit.ts";
import { rejection } from "../../support/rejection.ts";

const oldHash = "0".repeat(64);
const newHash = "1".repeat(64);
const context = { actor: "cli" } as const;

describe("the deletion of private audio", () => {
  it("deletes what was served after deleted journals, then names the archives of all keys", async () => {
    const archives: Readonly<Record<string, ArchivedPart[]>> = {
      k1: [
        { file: "5a", journals: 2, months: ["2025-10"] },
        { file: "5b", journals: 1, months: ["2025-11", "2025-12"] },
      ],
      k2: [{ file: "5a", journals: 1, months: ["2025-09", "2025-12"] }],
    };
    const audit = async function* ({ from, apiKey = "" }: Parameters<Audit>[0]) {
      if (from !== "2026-01-01T00:00:00.000Z") throw new Archived(archives[apiKey] ?? []);
      yield { data: { hash: newHash, engine: "g1" } };
    } as unknown as Audit;
    const deleted: string[] = [];
    const deletePrivateAudio = createDeletePrivateAudio({
      audit,
      openStore: async () => ({
        list: async function* (_, folder) {
          if (folder === "private") yield* [{ hash: oldHash }, { hash: newHash }] as never[];
        },
      }),
      deleteAudio: (async (hash: string) => void deleted.push(hash)) as never,
    });
    const error = await rejection(deletePrivateAudio(["k1", "k2"], context));
    expect((error as Archived).archives).to.deep.equal([
      { file: "5a", journals: 2, months: ["2025-09", "2025-10", "2025-12"] },
      { file: "5b", journals: 1, months: ["2025-11", "2025-12"] },
    ]);
    expect(deleted).to.deep.equal([newHash]);
  });
});
