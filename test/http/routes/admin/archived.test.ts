import { expect } from "chai";
import { Archived } from "../../../../src/domain/errors.ts";
import { auditOperation } from "../../../../src/http/routes/admin/ledger/usage-and-audit.ts";
import { createAudit } from "../../../../src/ledger/audit/audit.ts";
import {
  archiving,
  createMemoryFile,
  deleteJournals,
  writeOldJournals,
} from "../../../ledger/archive/old-journals.ts";
import { sealing } from "../../../ledger/proof/sealed-store.ts";
import { serveOperations } from "../../../support/operation-server.ts";
import { rejection } from "../../../support/rejection.ts";
import { openTemporaryStore } from "../../../support/temporary-store.ts";

const start = "2026-01-05T10:00:00.000Z";
const journals = ["old-1", "old-2", "old-3"];

describe("GET /admin/audit after archived journals were deleted", () => {
  const open = async () => {
    await using opened = new AsyncDisposableStack();
    const { store, remove } = await openTemporaryStore(() => Date.parse(start));
    opened.defer(remove);
    const sealed = sealing(store, start);
    await writeOldJournals(sealed);
    const { archive } = archiving(sealed, store, Date.parse("2026-08-01"));
    const { file } = await archive({ before: "2026-02", file: createMemoryFile() }, { actor: "cli" });
    const running = opened.move();
    return { store, file, [Symbol.asyncDispose]: () => running.disposeAsync() };
  };

  it("responds with 410 and the files that have the servings", async () => {
    await using log = await open();
    const server = await serveOperations([auditOperation({ audit: createAudit(log) })]);
    try {
      expect((await fetch(`${server.url}/admin/audit`)).status).to.equal(200);
      await deleteJournals(log.store, journals);
      const response = await fetch(`${server.url}/admin/audit`);
      expect(response.status).to.equal(410);
      const { error } = (await response.json()) as { readonly error: Readonly<Record<string, unknown>> };
      expect(error).to.deep.include({
        statusCode: 410,
        code: "ARCHIVED",
        archives: [{ file: log.file, journals: 3, months: ["2026-01"] }],
      });
      expect((await fetch(`${server.url}/admin/audit?stream=key-`)).status).to.equal(200);
    } finally {
      await server.close();
    }
  });

  it("fails instead of ending as complete if journals are deleted while it is read", async () => {
    await using log = await open();
    const entries = createAudit(log)({})[Symbol.asyncIterator]();
    await entries.next();
    await deleteJournals(log.store, journals);
    const rest = (async () => {
      while (!(await entries.next()).done);
    })();
    expect(await rejection(rest)).to.be.instanceOf(Archived);
  });
});
