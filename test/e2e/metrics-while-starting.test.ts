import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { withTemporaryFolder } from "../support/child-process.ts";
import { freePort } from "../support/free-port.ts";
import { startInstance } from "../support/instance.ts";
import { parseExposition, sumOf } from "../support/telemetry/exposition.ts";

/** Resolves with the gauge `voxledger_starting`, as soon as /metrics responds. */
const readStarting = async (port: string): Promise<number> => {
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
    if (response) return sumOf(parseExposition(await response.text()), "voxledger_starting");
    await delay(50);
  }
};

describe("the metrics of a service that starts", () => {
  for (const workers of ["1", "2"]) {
    it(`are served, and say that it starts, until it listens (WORKERS=${workers})`, () =>
      withTemporaryFolder(async (folder) => {
        await mkdir(join(folder, "data"), { mode: 0o700 });
        const lock = new DatabaseSync(join(folder, "data/events.db"));
        lock.exec("BEGIN EXCLUSIVE");
        const port = String(await freePort());
        const env = { WORKERS: workers, METRICS_PORT: port };
        const starting = startInstance(join(folder, "data"), env);
        expect(await readStarting(port)).to.equal(1);
        lock.close();
        const service = await starting;
        expect(await readStarting(port)).to.equal(0);
        expect(await service.stop()).to.equal(0);
      }));
  }
});
