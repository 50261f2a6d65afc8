import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../../..");

/** A project of another developer, who has installed the packed client and nothing else. */
export interface Project {
  readonly folder: string;
  /** The size of the packed client. */
  readonly packedBytes: number;
  /** Makes packages of this repository available to the project. */
  link(...names: string[]): Promise<void>;
  /** Writes a file and returns its path. */
  write(name: string, text: string): Promise<string>;
  /** Runs a program with this repository's Node, in the project. Rejects if it fails. */
  node(...args: string[]): Promise<{ stdout: string; stderr: string }>;
  remove(): Promise<void>;
}

export const installPackage = async (): Promise<Project> => {
  const folder = await mkdtemp(join(tmpdir(), "voxledger-package-"));
  const built = join(folder, "built");
  await run(join(root, "scripts/client-package"), [built]);
  await run("npm", ["pack", built, "--pack-destination", folder], { cwd: folder });
  const tarball = (await readdir(folder)).find((name) => name.endsWith(".tgz")) ?? "";
  await rm(built, { recursive: true });
  const project = join(folder, "project");
  await mkdir(project);
  await writeFile(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(folder, tarball)], {
    cwd: project,
  });
  return {
    folder: project,
    packedBytes: (await stat(join(folder, tarball))).size,
    link: async (...names) => {
      for (const name of names) {
        const path = join(project, "node_modules", name);
        await mkdir(dirname(path), { recursive: true });
        await symlink(join(root, "node_modules", name), path);
      }
    },
    write: async (name, text) => {
      const path = join(project, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      return path;
    },
    node: (...args) => run(process.execPath, args, { cwd: project }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};
