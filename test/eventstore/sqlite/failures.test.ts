import { spawn } from "node:child_process";
import { mkdir, open, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { EventStoreUnavailable } from "../../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { WorkerClient } from "../../../src/eventstore/sqlite/worker-rpc.ts";
import { event, fill, read, readLog, rejectionOf } from "../../contracts/event-store/events.ts";
import { fixturePath, linesOf, startFixture, withTemporaryFolder } from "../../support/child-process.ts";
import type { Fragile } from "../fixtures/fragile-worker.ts";

const expectUnavailable = async (action: () => Promise<unknown>): Promise<EventStoreUnavailable> => {
  const error = await rejectionOf(action);
  expect(error).to.be.instanceOf(EventStoreUnavailable);
  return error as EventStoreUnavailable;
};

describe("the SQLite event store", () => {
  it("creates its directory and files for the owner only, and leaves one file when closed", () =>
    withTemporaryFolder(async (folder) => {
      const inner = join(folder, "not", "there");
      const store = await openSqliteEventStore({ path: join(inner, "events.db") });
      await store.append("s", [event()], "none");
      expect((await stat(inner)).mode & 0o777).to.equal(0o700);
      for (const name of await readdir(inner)) {
        expect((await stat(join(inner, name))).mode & 0o777, name).to.equal(0o600);
      }
      await store.close();
      expect(await readdir(inner)).to.deep.equal(["events.db"]);
    }));

  it("lets the process end once closed, and prints nothing", () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, "events.db");
      const child = spawn(process.execPath, [fixturePath("append-until-killed"), path, "s", "5"]);
      const [said] = await Promise.all([text(child.stderr), text(child.stdout)]);
      expect(said).to.equal("");
    }));

  it("refuses to open a directory, a path below a file, and a file that is not a database", () =>
    withTemporaryFolder(async (folder) => {
      await writeFile(join(folder, "letter"), "Dear reader, ".repeat(1000));
      await mkdir(join(folder, "folder"));
      for (const path of ["folder", "letter/events.db", "letter"]) {
        const error = await expectUnavailable(() => openSqliteEventStore({ path: join(folder, path) }));
        expect(error.cause).to.be.instanceOf(Error);
        expect(error.message).not.to.contain(folder);
      }
    }));

  it("refuses a database of a newer release without changing it", () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, "events.db");
      const newer = new DatabaseSync(path);
      newer.exec("PRAGMA user_version = 1000");
      newer.close();
      const error = await expectUnavailable(() => openSqliteEventStore({ path }));
      expect(error.message).to.contain("newer");
    }));

  for (const version of [0, 1, 2]) {
    it(`refuses another program's database of version ${version} without changing it`, () =>
      withTemporaryFolder(async (folder) => {
        const path = join(folder, "events.db");
        const foreign = new DatabaseSync(path);
        foreign.exec(`CREATE TABLE events (what TEXT); PRAGMA user_version = ${version}`);
        foreign.close();
        const before = await readFile(path);
        for (const readOnly of [false, true]) {
          const error = await expectUnavailable(() => openSqliteEventStore({ path, readOnly }));
          expect(error.message).to.contain("another program's");
        }
        expect((await readFile(path)).equals(before)).to.equal(true);
        expect(await readdir(folder)).to.deep.equal(["events.db"]);
      }));
  }

  it("fails reads and subscriptions of a corrupt file", () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, "events.db");
      const first = await openSqliteEventStore({ path });
      await fill(first, "s", 5000);
      await first.close();
      const store = await openSqliteEventStore({ path });
      await corrupt(path);
      expect((await expectUnavailable(() => readLog(store))).cause).to.be.instanceOf(Error);
      await expectUnavailable(() => read(store, "s"));
      await store.close();
    }));

  it("refuses appends and pings when the disk is full, loses nothing, and can still be read and closed", () =>
    withTemporaryFolder(async (folder) => {
      const limit = 'ulimit -f 1000; exec "$@"';
      const args = [process.execPath, fixturePath("append-until-full"), join(folder, "events.db")];
      const child = spawn("bash", ["-c", limit, "bash", ...args]);
      const [response] = await Promise.all([text(child.stdout), text(child.stderr)]);
      const { acknowledged, held, cause, ping } = JSON.parse(response);
      expect(acknowledged).to.be.greaterThan(0);
      expect(held).to.equal(acknowledged);
      expect(cause).to.equal(true);
      expect(ping).to.equal("refused");
    }));

  it("can be created by several processes at the same time", () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, "events.db");
      const children = Array.from({ length: 4 }, () => startFixture("append-until-killed", path, "s", "10"));
      await Promise.all(children.map(linesOf));
      expect(await Promise.all(children.map(({ ended }) => ended))).to.deep.equal([0, 0, 0, 0]);
      const store = await openSqliteEventStore({ path });
      expect(await read(store, "s")).to.have.length(120);
      await store.close();
    }));
});

describe("a worker of the SQLite event store", () => {
  const entry = new URL("../fixtures/fragile-worker.ts", import.meta.url);

  for (const end of ["crash", "exit"] as const) {
    it(`that ends by ${end} rejects its calls, and is restarted by the next call`, async () => {
      const link = new WorkerClient<Fragile>({ entry, workerData: undefined, send: "together" });
      const calls = [link.call("hang", "a"), link.call(end, "a bad page"), link.call("hang", "b")];
      for (const call of calls) expect((await expectUnavailable(() => call)).cause).to.be.instanceOf(Error);
      expect(await link.call("echo", "still here")).to.equal("still here");
      await link.close();
      await expectUnavailable(() => link.call("echo", "too late"));
    });
  }

  it("that ends without a response rejects the call", async () => {
    const link = new WorkerClient<Fragile>({ entry, workerData: undefined, send: "now" });
    const hanging = expectUnavailable(() => link.call("hang", "a"));
    await link.close();
    await hanging;
  });
});

/** Overwrites everything after the first pages, which contain the schema. */
const corrupt = async (path: string): Promise<void> => {
  const { size } = await stat(path);
  const file = await open(path, "r+");
  const from = 8 * 4096;
  await file.write(Buffer.alloc(size - from, 0xa5), 0, size - from, from);
  await file.close();
};
