import { copyFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { withTemporaryFolder } from "../support/child-process.ts";
import { registerWebsite } from "../support/client.ts";
import { startInstance } from "../support/instance.ts";
import { descendantsOf, gone } from "../support/processes.ts";

const files = ["events.db", "events.db-wal", "events.db-shm"];

const changes: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  removed: async (folder) => {
    for (const name of files) await rm(join(folder, name));
  },
  "replaced by another file": async (folder) => {
    const path = join(folder, "events.db");
    await copyFile(path, join(folder, "copy.db"));
    await rename(join(folder, "copy.db"), path);
  },
};

describe("a running service whose SQLite file is lost", () => {
  for (const workers of ["1", "2"]) {
    for (const [change, apply] of Object.entries(changes)) {
      it(`ends by itself with code 1 and one line when the file is ${change}, with WORKERS=${workers}`, () =>
        withTemporaryFolder(async (folder) => {
          const service = await startInstance(folder, { WORKERS: workers, DRAIN_SECONDS: "600" });
          await registerWebsite(service.url);
          const all = [service.pid, ...descendantsOf(service.pid).map(({ pid }) => pid)];
          await apply(folder);
          await gone(...all);
          expect(await service.stop()).to.equal(1);
          const warnings = service.log.filter((line) => line.includes('"level":"warn"'));
          const repeated = warnings.filter((line) => line.includes("removed or replaced"));
          expect(repeated.length, "one of each worker").to.be.at.most(workers === "1" ? 0 : Number(workers));
          const lines = service.log.filter((line) => line.startsWith("voxledger: "));
          expect(lines).to.deep.equal([
            "voxledger: the event store failed: its file was removed or replaced\n",
          ]);
        }));
    }
  }
});
