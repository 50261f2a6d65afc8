import { hash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createFileDigests } from "../../src/files/file-digests.ts";
import { rejection } from "../support/rejection.ts";

describe("digests of files", () => {
  let folder: string;
  let file: string;
  let record: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "voxledger-digests-"));
    file = join(folder, "file");
    record = join(folder, "cache/record.json");
    await writeFile(file, "first");
  });

  afterEach(() => rm(folder, { recursive: true }));

  const first = hash("sha256", "first");

  it("are read again only if the identity of the file has changed, also by a later process", async () => {
    const digests = createFileDigests(record);
    expect(await digests.sha256(file, "one")).to.equal(first);
    await digests.keep();
    await writeFile(file, "second");
    for (const known of [digests, createFileDigests(record)]) {
      expect(await known.sha256(file, "one")).to.equal(first);
      expect(await known.sha256(file, "one 2")).to.equal(hash("sha256", "second"));
    }
  });

  it("are kept of the files that the last process asked for", async () => {
    const [earlier, later] = [createFileDigests(record), createFileDigests(record)];
    await earlier.sha256(file, "one");
    await earlier.keep();
    const other = join(folder, "other");
    await writeFile(other, "other");
    await later.sha256(other, "one");
    await later.keep();
    expect(Object.keys(JSON.parse(await readFile(record, "utf8")))).to.deep.equal([other]);
  });

  it("cover files that are longer than what is read at once", async () => {
    const content = Buffer.alloc(1_000_001, "content");
    await writeFile(file, content);
    expect(await createFileDigests(undefined).sha256(file, "one")).to.equal(hash("sha256", content));
  });

  it("are read if the record is damaged, which is then replaced", async () => {
    await mkdir(join(folder, "cache"));
    for (const damaged of ["", "null", "[1]", '{"', JSON.stringify({ [file]: null })]) {
      await writeFile(record, damaged);
      const digests = createFileDigests(record);
      expect(await digests.sha256(file, "one"), damaged).to.equal(first);
      await digests.keep();
      expect(await readFile(record, "utf8")).to.include(`one ${first}`);
    }
  });

  it("are not kept if the record cannot be written, or there is none", async () => {
    await writeFile(join(folder, "cache"), "a file, no folder");
    for (const digests of [createFileDigests(record), createFileDigests(undefined)]) {
      expect(await digests.sha256(file, "one")).to.equal(first);
      await digests.keep();
    }
    expect(await readFile(join(folder, "cache"), "utf8")).to.equal("a file, no folder");
  });

  it("are an error for a file that cannot be read", async () => {
    const missing = createFileDigests(undefined).sha256(join(folder, "absent"), "one");
    expect(await rejection(missing)).to.have.property("code", "ENOENT");
  });
});
