import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { libraryVersion } from "../../../src/engines/models/library.ts";
import { temporaryFolder } from "../../support/service.ts";

const native = `sherpa-onnx-${process.platform}-${process.arch}`;

describe("The version of sherpa-onnx", () => {
  const installed = async (versions: Readonly<Record<string, string>>): Promise<string | undefined> => {
    const { path, remove } = await temporaryFolder();
    for (const [name, version] of Object.entries(versions)) {
      await mkdir(join(path, "node_modules", name), { recursive: true });
      await writeFile(join(path, "node_modules", name, "package.json"), JSON.stringify({ name, version }));
    }
    const found = libraryVersion(join(path, "main.js"));
    await remove();
    return found;
  };

  it("is that of the package with the library, on which the bytes depend", async () => {
    expect(await installed({ "sherpa-onnx-node": "1.13.8", [native]: "1.14.2" })).to.equal("1.14.2");
  });

  it("is undefined where either package is missing, such as on a machine without a library", async () => {
    expect(await installed({ "sherpa-onnx-node": "1.13.8" })).to.equal(undefined);
    expect(await installed({ [native]: "1.14.2" })).to.equal(undefined);
  });
});
