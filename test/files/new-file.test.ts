import { link, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { createNewFile, openDurableFile } from "../../src/files/new-file.ts";
import { withTemporaryFolder } from "../support/child-process.ts";
import { collect } from "../support/collect.ts";
import { rejection } from "../support/rejection.ts";

async function* texts(): AsyncGenerator<string> {
  yield "a";
  yield "b";
}

describe("a new file", () => {
  it("has its name only when it is published, for its owner alone", () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, "file");
      await using file = await createNewFile(path);
      await file.write(texts());
      expect(await readdir(folder)).to.deep.equal(["file.part"]);
      expect(Buffer.concat(await collect(file.read())).toString()).to.equal("ab");
      await file.publish();
      expect(await readdir(folder)).to.deep.equal(["file"]);
      expect(await readFile(path, "utf8")).to.equal("ab");
      expect((await stat(path)).mode & 0o777).to.equal(0o600);
    }));

  it("leaves nothing unless it is published", () =>
    withTemporaryFolder(async (folder) => {
      {
        await using file = await createNewFile(join(folder, "file"));
        await file.write(texts());
      }
      expect(await readdir(folder)).to.deep.equal([]);
    }));

  it("never replaces a file, nor follows a symbolic link", () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, "file");
      await symlink(join(folder, "target"), path);
      expect(String(await rejection(createNewFile(path)))).to.include(`${path} exists already`);
      const [other, draft] = [join(folder, "other"), join(folder, "other.part")];
      await symlink(join(folder, "target"), draft);
      expect(String(await rejection(createNewFile(other)))).to.include(`${draft} exists`);
      const late = join(folder, "late");
      {
        await using file = await createNewFile(late);
        await file.write(texts());
        await writeFile(late, "mine");
        expect(await rejection(file.publish())).to.include({ code: "EEXIST" });
      }
      expect(await readFile(late, "utf8")).to.equal("mine");
      expect((await readdir(folder)).sort()).to.deep.equal(["file", "late", "other.part"]);
    }));

  it("is refused while another process writes it", () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, "file");
      await using file = await createNewFile(path);
      expect(String(await rejection(createNewFile(path)))).to.include("another process is writing it");
      await file.write(texts());
      await file.publish();
    }));

  it("loses its second name, which a killed process has left, when it is opened again", () =>
    withTemporaryFolder(async (folder) => {
      const [path, other] = [join(folder, "file"), join(folder, "other")];
      await writeFile(path, "text");
      await link(path, `${path}.part`);
      const { read } = await openDurableFile(path);
      expect(Buffer.concat(await collect(read())).toString()).to.equal("text");
      await writeFile(other, "text");
      await writeFile(`${other}.part`, "another text");
      await openDurableFile(other);
      expect((await readdir(folder)).sort()).to.deep.equal(["file", "other", "other.part"]);
      expect(String(await rejection(openDurableFile(folder)))).to.include("is not a file");
    }));
});
