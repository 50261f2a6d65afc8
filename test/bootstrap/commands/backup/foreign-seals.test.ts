import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { composeAuditProof } from "../../../../src/bootstrap/commands/audit-proof.ts";
import { readLastEvent } from "../../../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { duringTest } from "../../../support/during.ts";
import { temporaryFolder } from "../../../support/service.ts";
import { installationIn } from "./installation.ts";

describe("a backup of a log with another program's events among its seals", () => {
  const folder = duringTest(temporaryFolder);

  it("names the newest own seal, and the restored log is genuine", async () => {
    const { register, seal, inFolder, backUp, restore, lose, settings } = installationIn(folder.path, {});
    await register("example.com");
    await seal();
    const store = await openSqliteEventStore({ path: inFolder("data/events.db") });
    const sealed = await readLastEvent(store, "seals");
    const foreign = { id: randomUUID(), type: "Harpooned", data: { whale: 1 }, metadata: {} };
    await store.append("seals", [foreign], sealed?.revision ?? "none");
    await store.close();
    const { manifest } = await backUp({ withKey: true });
    expect(sealed?.data).to.have.property("note", manifest.newestSeal?.note);
    await lose();
    expect(await restore()).to.include({ isSealed: true });
    const proof = composeAuditProof(settings);
    const { remarks } = await proof.verifyLog({ keys: await proof.verifierKeys() });
    expect(remarks[0]).to.match(/^restored from a backup at position /);
  });
});
