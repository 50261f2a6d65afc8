import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const git = async (...args: string[]): Promise<string> =>
  (await run("git", ["-C", root, ...args])).stdout.trim();

/** True in a clone that lacks older commits, and in a copy without a history. */
export const lacksHistory = async (): Promise<boolean> =>
  (await git("rev-parse", "--is-shallow-repository").catch(() => "true")) === "true";

/** The programs of an earlier commit in a temporary folder, with the packages of this version. */
export const checkOut = async (
  commit: string,
): Promise<{ readonly path: string; remove(): Promise<void> }> => {
  const path = await mkdtemp(join(tmpdir(), "voxledger-checkout-"));
  const archive = join(path, "archive.tar");
  await git("archive", `--output=${archive}`, commit, "src", "projections", "package.json", "scripts");
  await run("tar", ["-x", "-f", archive, "-C", path]);
  await symlink(join(root, "node_modules"), join(path, "node_modules"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
};
