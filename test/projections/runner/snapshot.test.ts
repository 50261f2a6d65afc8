import { copyFile, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Projection } from "../../../projections/projection.ts";
import { createProjectionRunner, type RunnerOptions } from "../../../projections/runner/runner.ts";
import { createSnapshotFiles, type SnapshotProof } from "../../../projections/runner/snapshot-files.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { uuidv7 } from "../../../src/eventstore/uuid.ts";

type Names = string[];

const key = Buffer.alloc(32, 1);
const snapshotFilesIn = (folder: string, keys: SnapshotProof["keys"] = [key], logId = "log-1") =>
  createSnapshotFiles(folder, { logId, keys });

const names: Projection<Names> = {
  name: "names",
  version: 2,
  prefixes: ["name-", "trimmed-"],
  partition: ({ stream }) => stream,
  initial: () => [],
  apply: (state, { data }) => [...state, (data as { name: string }).name],
};

const append = async (store: EventStore, stream: string, name: string): Promise<void> => {
  await store.append(
    stream,
    [{ id: uuidv7(Date.now()), type: "Named", data: { name }, metadata: {} }],
    "any",
  );
};

describe("a snapshot", () => {
  let folder: string;
  let snapshotFolder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "voxledger-snapshot-"));
    snapshotFolder = join(folder, "snapshots");
    file = join(snapshotFolder, "names.v2.jsonl");
  });
  afterEach(() => rm(folder, { recursive: true }));

  const path = (name: string): string => join(folder, name);

  const withStore = async <T>(name: string, work: (store: EventStore) => Promise<T>): Promise<T> => {
    const store = await openSqliteEventStore({ path: path(name) });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };

  /**
   * The view of a new runner with the stored snapshots, the errors that it reports and the number
   * of events that it folds.
   */
  const viewOf = async (store: EventStore, projection = names, options: Partial<RunnerOptions> = {}) => {
    let folded = 0;
    const errors: string[] = [];
    const counting: Projection<Names> = {
      ...projection,
      apply: (state, event) => {
        folded += 1;
        return projection.apply(state, event);
      },
    };
    const runner = createProjectionRunner({
      store,
      projections: [counting],
      trimmedPrefixes: ["trimmed-"],
      snapshots: snapshotFilesIn(snapshotFolder),
      snapshotEvery: 1,
      onError: (what) => errors.push(what),
      ...options,
    });
    try {
      await runner.start();
      const view = Object.fromEntries(runner.view(counting).entries());
      return { view, folded, errors };
    } finally {
      await runner.close();
    }
  };

  const loadView = (name: string) => withStore(name, viewOf);

  it("is ignored if it ends before the runner's first position, and so is the log up to there", () =>
    withStore("a.db", async (store) => {
      await append(store, "name-a", "Ada");
      await viewOf(store);
      await append(store, "name-a", "Grace");
      const { position } = await store.append(
        "name-b",
        [{ id: uuidv7(Date.now()), type: "Named", data: { name: "Edsger" }, metadata: {} }],
        "any",
      );
      await append(store, "name-a", "Barbara");
      const options = { firstPosition: async () => position };
      const first = await viewOf(store, names, options);
      expect(first).to.deep.equal({ view: { "name-a": ["Barbara"] }, folded: 1, errors: [] });
      expect(await viewOf(store, names, options)).to.deep.equal({ ...first, folded: 0 });
    }));

  it("is restored if it belongs to the log", () =>
    withStore("a.db", async (store) => {
      await append(store, "name-a", "Ada");
      const before = await viewOf(store);
      expect(await viewOf(store)).to.deep.equal({ ...before, folded: 0 });
      expect(before.view).to.deep.equal({ "name-a": ["Ada"] });
    }));

  it("preserves every text", () =>
    withStore("a.db", async (store) => {
      await append(store, "name-a", "lines\n\r\u2028\u2029 \0 \u{1f600} \ud800 __proto__");
      const before = await viewOf(store);
      expect(await viewOf(store)).to.deep.equal({ ...before, folded: 0 });
    }));

  for (const [what, damage] of Object.entries<(text: string) => string>({
    "is truncated": (text) => text.slice(0, text.length / 2),
    "lacks its last line": (text) => text.slice(0, text.trimEnd().lastIndexOf("\n") + 1),
    "lacks a line": (text) => text.split("\n").toSpliced(1, 1).join("\n"),
    "is empty": () => "",
    "has a changed state": (text) => text.replace("1815", "1816"),
    "has a changed position": (text) => text.replace(/"position":\d/, '"position":9'),
    "has other members": () => '{"position":1}\n{"end":0}\n',
    "is not JSON": () => "Dear reader,\n",
  })) {
    it(`is ignored if its file ${what}`, async () => {
      await withStore("a.db", async (store) => {
        await append(store, "name-a", "Ada 1815");
        const before = await viewOf(store);
        const written = await readFile(file, "utf8");
        await writeFile(file, damage(written));
        expect(await readFile(file, "utf8")).not.to.equal(written);
        expect(await viewOf(store)).to.deep.equal({ ...before, folded: 1 });
      });
    });
  }

  it("is ignored without a code, or with that of another key, log or projection, and replaced", () =>
    withStore("a.db", async (store) => {
      await append(store, "name-a", "Ada");
      const before = await viewOf(store);
      const withoutCode = (await readFile(file, "utf8")).replace(/,"hmac":"[0-9a-f]+"/, "");
      for (const write of [
        () => writeFile(file, withoutCode),
        () => writeFile(file, withoutCode.replace(/"\}\n$/, '","hmac":""}\n')),
        () => viewOf(store, names, { snapshots: snapshotFilesIn(snapshotFolder, [Buffer.alloc(32, 2)]) }),
        () => viewOf(store, names, { snapshots: snapshotFilesIn(snapshotFolder, [key], "log-2") }),
        async () => {
          await viewOf(store, { ...names, name: "others" });
          await copyFile(join(snapshotFolder, "others.v2.jsonl"), file);
        },
        async () => {
          await viewOf(store, { ...names, version: 3 });
          await copyFile(join(snapshotFolder, "names.v3.jsonl"), file);
        },
      ]) {
        await rm(file);
        await write();
        expect(await viewOf(store), String(write)).to.deep.equal({ ...before, folded: 1 });
        expect(await viewOf(store), String(write)).to.deep.equal({ ...before, folded: 0 });
      }
    }));

  it("is restored after a rotation of its key, with the previous key", () =>
    withStore("a.db", async (store) => {
      await append(store, "name-a", "Ada");
      const before = await viewOf(store);
      const snapshots = snapshotFilesIn(snapshotFolder, [Buffer.alloc(32, 2), key]);
      expect(await viewOf(store, names, { snapshots })).to.deep.equal({ ...before, folded: 0 });
    }));

  it("is ignored if it belongs to another log, and this is reported", async () => {
    await withStore("a.db", (store) => append(store, "name-a", "Ada"));
    await loadView("a.db");
    await withStore("b.db", (store) => append(store, "name-b", "Bob"));
    const { view, errors } = await loadView("b.db");
    expect(view).to.deep.equal({ "name-b": ["Bob"] });
    expect(errors).to.have.length(1);
  });

  it("is ignored if it is ahead of the log", async () => {
    await withStore("a.db", (store) => append(store, "name-a", "Ada"));
    await loadView("a.db");
    expect((await loadView("empty.db")).view).to.deep.equal({});
  });

  it("does not change the view after a backup of the log was restored", async () => {
    await withStore("a.db", (store) => append(store, "name-a", "Ada"));
    await copyFile(path("a.db"), path("backup"));
    await withStore("a.db", (store) => append(store, "name-ghost", "Gus"));
    await loadView("a.db");
    await copyFile(path("backup"), path("a.db"));
    const restored = { "name-a": ["Ada"] };
    expect((await loadView("a.db")).view).to.deep.equal(restored);

    await withStore("a.db", (store) => append(store, "name-ghost", "Gus"));
    await loadView("a.db");
    await copyFile(path("backup"), path("a.db"));
    await withStore("a.db", async (store) => {
      for (const name of ["Bea", "Cid", "Dot"]) await append(store, "name-b", name);
    });
    expect((await loadView("a.db")).view).to.deep.equal({ ...restored, "name-b": ["Bea", "Cid", "Dot"] });
  });

  it("hides no event of a restored backup at positions of trimmed events", async () => {
    await withStore("a.db", (store) => append(store, "name-a", "Ada"));
    await copyFile(path("a.db"), path("backup"));
    await withStore("a.db", async (store) => {
      for (const name of ["1", "2", "3"]) await append(store, "trimmed-a", name);
    });
    await loadView("a.db");
    await copyFile(path("backup"), path("a.db"));
    await withStore("a.db", async (store) => {
      for (const name of ["Bea", "Cid", "Dot", "Eve"]) await append(store, "name-b", name);
    });
    expect((await loadView("a.db")).view["name-b"]).to.deep.equal(["Bea", "Cid", "Dot", "Eve"]);
  });

  it("stays valid after retention has trimmed some of its events", () =>
    withStore("a.db", async (store) => {
      await store.setRetention("trimmed-a", { maxCount: 1 });
      await append(store, "name-a", "Ada");
      await append(store, "trimmed-a", "1");
      await viewOf(store);
      await append(store, "trimmed-a", "2");
      const { view, folded, errors } = await viewOf(store);
      expect({ folded, errors }).to.deep.equal({ folded: 1, errors: [] });
      expect(view).to.deep.equal({ "name-a": ["Ada"], "trimmed-a": ["1", "2"] });
    }));

  it("is ignored if the log has lost events that were folded while it was written", async () => {
    await withStore("a.db", (store) => append(store, "name-a", "Ada"));
    await copyFile(path("a.db"), path("backup"));
    await withStore("a.db", async (store) => {
      const files = snapshotFilesIn(snapshotFolder);
      const runner = createProjectionRunner({
        store,
        projections: [names],
        snapshots: {
          ...files,
          save: async (projection, partitions, span) => {
            const begun = span();
            await append(store, "name-a", "Gus");
            while ((runner.view(names).get("name-a")?.length ?? 0) < 2) await new Promise(setImmediate);
            await files.save(projection, partitions, () => ({
              allUpTo: begun.allUpTo,
              noneAfter: span().noneAfter,
            }));
          },
        },
        snapshotEvery: 1,
      });
      await runner.start();
      while (!(await readdir(folder)).includes("snapshots") || (await readdir(snapshotFolder)).length === 0)
        await new Promise(setImmediate);
      await runner.close();
    });
    await copyFile(path("backup"), path("a.db"));
    expect((await loadView("a.db")).view).to.deep.equal({ "name-a": ["Ada"] });
  });

  it("is not written after a fold has failed", () =>
    withStore("a.db", async (store) => {
      await append(store, "name-a", "Ada");
      const failing: Projection<Names> = {
        ...names,
        apply: () => {
          throw new Error("a fold's own fault");
        },
      };
      await viewOf(store, failing).catch(() => {});
      expect(await readdir(folder)).not.to.include("snapshots");
    }));

  it("replaces older versions and files left by a crash, and keeps newer versions", () =>
    withStore("a.db", async (store) => {
      await append(store, "name-a", "Ada");
      await viewOf(store, { ...names, version: 1 });
      await viewOf(store, { ...names, version: 3 });
      const [left, fresh] = [".names.v2.jsonl.left", ".names.v2.jsonl.fresh"];
      for (const name of [left, fresh]) await writeFile(join(snapshotFolder, name), "");
      await utimes(join(snapshotFolder, left), 0, 0);
      await viewOf(store);
      expect((await readdir(snapshotFolder)).toSorted()).to.deep.equal([
        fresh,
        "names.v2.jsonl",
        "names.v3.jsonl",
      ]);
    }));
});
