import { expect } from "chai";
import { createDeletePrivateAudio } from "../../../src/application/audio/delete-private-audio.ts";
import { Archived } from "../../../src/domain/errors.ts";
import type { Audit } from "../../../src/ledger/audit/audit.ts";
import { rejection } from "../../support/rejection.ts";

const oldHash = "0".repeat(64);
const newHash = "1".repeat(64);
const context = { actor: "cli" } as const;

describe("the deletion of private audio", () => {
  it("deletes what was served after deleted journals, then names their archive", async () => {
    const archived = new Archived([{ file: "5b", journals: 1, months: ["2025-11", "2025-12"] }]);
    const audit = async function* ({ from }: Parameters<Audit>[0]) {
      if (from !== "2026-01-01T00:00:00.000Z") throw archived;
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
    expect(await rejection(deletePrivateAudio(["k1"], context))).to.equal(archived);
    expect(deleted).to.deep.equal([newHash]);
  });
});
