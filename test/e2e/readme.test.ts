import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { expect } from "chai";
import { serveLocally } from "../support/local-server.ts";
import { temporaryFolder } from "../support/service.ts";

const run = promisify(execFile);

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
};

/** The commands that the README tells readers to type. */
const commandsOf = (readme: string): string[] =>
  [...readme.matchAll(/```console\n(.*?)```/gs)].flatMap(([, block = ""]) =>
    [...block.matchAll(/^\$ (.*)$/gm)].map(([, command = ""]) => command),
  );

/** Whether a process that is not our child is there. */
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The first answer that the README shows: its status line and the names of its headers, in order. */
const shapeOf = (text: string): string[] => {
  const [, head = ""] = /(HTTP\/1\.1 200 OK\r?\n(?:.+\r?\n)+)/.exec(text) ?? [];
  return head.split(/\r?\n/).map((line) => line.replace(/: .*/, ""));
};

/** The names of the members of the first audit entry in the text, those of its data and metadata included. */
const membersOfEntry = (text: string): string[] => {
  const entry = JSON.parse(/^\{"position":.*$/m.exec(text)?.[0] ?? "{}");
  return [entry, entry.data, entry.metadata].flatMap((part) => Object.keys(part ?? {}));
};

describe("README", () => {
  it("starts the service with scripts/quickstart, and every line that it tells to type works", async () => {
    const folder = await temporaryFolder();
    const port = await freePort();
    const env = {
      PATH: process.env.PATH,
      HOME: folder.path,
      DATA_DIR: `${folder.path}/data`,
      PORT: String(port),
    };
    try {
      const { stdout } = await run("scripts/quickstart", { env });
      expect(stdout).to.include("Voxledger synthesized a sentence").and.to.include("scripts/voxledger audit");

      const readme = await readFile("README.md", "utf8");
      const commands = commandsOf(readme);
      expect(commands.length).to.be.above(10);
      const script = commands
        .map((command) =>
          command
            .replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`)
            .replaceAll("data/quickstart.env", `${folder.path}/data/quickstart.env`)
            .replaceAll("scripts/voxledger", `${process.cwd()}/scripts/voxledger`),
        )
        .join("\n");
      const session = await run("bash", ["-euo", "pipefail", "-c", script], { env, cwd: folder.path });
      expect(session.stdout).to.include("SVC-Cached: miss").and.to.include("SynthesisServed");
      expect(shapeOf(readme)).to.deep.equal(shapeOf(session.stdout)).and.to.include("SVC-Cached");
      expect(membersOfEntry(readme))
        .to.deep.equal(membersOfEntry(session.stdout))
        .and.to.include("requestId");
      for (const sound of ["train.mp3", "bonjour.mp3", "pause.mp3", "alloy.mp3", "data/hello.mp3"]) {
        const probe = ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", sound];
        const { stdout: seconds } = await run("ffprobe", probe, { cwd: folder.path });
        expect(Number(seconds)).to.be.above(0.5);
      }
    } finally {
      const pid = Number(await readFile(`${folder.path}/data/voxledger.pid`, "utf8").catch(() => 0));
      if (pid > 0) {
        process.kill(pid, "SIGTERM");
        while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await folder.remove();
    }
  });

  it("starts nothing with scripts/quickstart where something answers already", async () => {
    const folder = await temporaryFolder();
    const other = await serveLocally((_req, res) => res.end());
    const env = { PATH: process.env.PATH, DATA_DIR: `${folder.path}/data`, PORT: new URL(other.url).port };
    try {
      const failure = await run("scripts/quickstart", { env }).catch((error) => error);
      expect(failure).to.include({ code: 1 }).and.to.have.property("stderr").that.includes("another PORT");
      expect(await readdir(env.DATA_DIR)).to.deep.equal([]);
    } finally {
      await other.close();
      await folder.remove();
    }
  });
});
