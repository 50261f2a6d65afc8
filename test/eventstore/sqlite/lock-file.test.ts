import { once } from "node:events";
import { stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { lockFile } from "../../../src/eventstore/sqlite/lock-file.ts";
import { spawnProgram } from "../../support/cli-process.ts";
import { duringTest } from "../../support/during.ts";
import { rejection } from "../../support/rejection.ts";
import { temporaryFolder } from "../../support/service.ts";

const module = fileURLToPath(new URL("../../../src/eventstore/sqlite/lock-file.ts", import.meta.url));
const program = `
  const { lockFile } = await import(${JSON.stringify(module)});
  globalThis.lock = await lockFile(process.argv[1]);
  console.log(globalThis.lock ? "locked" : "refused");
  process.stdin.resume();`;

describe("a lock file", () => {
  const folder = duringTest(temporaryFolder);
  const path = (): string => join(folder.path, "lock");
  const lockInProcess = async () => {
    const child = spawnProgram("--input-type=module", ["--eval", program, path()], {});
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    return {
      line,
      kill: async (): Promise<void> => {
        const ended = once(child, "close");
        child.kill("SIGKILL");
        await ended;
      },
    };
  };

  it("is locked once, until it is released, and only its owner can access it", async () => {
    const lock = await lockFile(path());
    expect((await stat(path())).mode & 0o777).to.equal(0o600);
    expect(await lockFile(path())).to.equal(undefined);
    const other = await lockInProcess();
    expect(other.line).to.equal("refused");
    await other.kill();
    lock?.[Symbol.dispose]();
    const again = await lockFile(path());
    expect(again).not.to.equal(undefined);
    again?.[Symbol.dispose]();
  });

  it("is no symbolic link", async () => {
    await symlink(join(folder.path, "other"), path());
    expect(await rejection(lockFile(path())))
      .to.have.property("message")
      .that.includes("symbolic link");
  });

  it("is released when its process is killed", async () => {
    const other = await lockInProcess();
    expect(other.line).to.equal("locked");
    expect(await lockFile(path())).to.equal(undefined);
    await other.kill();
    const lock = await lockFile(path());
    expect(lock).not.to.equal(undefined);
    lock?.[Symbol.dispose]();
  });
});
