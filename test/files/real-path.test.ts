import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { isWithin, realPath } from "../../src/files/real-path.ts";
import { duringTest } from "../support/during.ts";
import { temporaryFolder } from "../support/service.ts";

describe("the real path", () => {
  const folder = duringTest(temporaryFolder);

  it("of a path whose last parts are missing has no symbolic links", async () => {
    const root = await realPath(folder.path);
    await mkdir(join(root, "data"));
    await symlink(join(root, "data"), join(root, "link"));
    expect(await realPath(join(root, "link/a/b"))).to.equal(join(root, "data/a/b"));
    expect(await realPath(join(root, "link/../c"))).to.equal(join(root, "c"));
  });

  it("tells what is within a directory", () => {
    for (const path of ["/a", "/a/b", "/a/..b"]) expect(isWithin("/a", path), path).to.equal(true);
    for (const path of ["/", "/ab", "/b/a"]) expect(isWithin("/a", path), path).to.equal(false);
    expect(isWithin("/", "/a")).to.equal(true);
  });
});
