import { execFileSync } from "node:child_process";
import { appendFile, chmod, copyFile, mkdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import {
  recallComparison,
  recordComparison,
} from "../../../../src/subprocess/host/encoders/known-comparison.ts";
import { duringTest } from "../../../support/during.ts";
import { temporaryFolder } from "../../../support/service.ts";

describe("A comparison of the encoders' libraries with ffmpeg", () => {
  const path = process.env.PATH ?? "";
  const installed = execFileSync("which", ["ffmpeg"], { encoding: "utf8" }).trim();
  const linked = [...execFileSync("ldd", [installed], { encoding: "utf8" }).matchAll(/=> (\S+)/g)]
    .map(([, file = ""]) => execFileSync("readlink", ["-f", file], { encoding: "utf8" }).trim())
    .filter((file) => /lib(mp3lame|avutil|avcodec|avformat|swresample)\.so/.test(file));
  const made = { ffmpegVersion: "5.1", context: "mp3" };
  const folder = duringTest(temporaryFolder);
  const inFolder = (name: string) => join(folder.path, name);
  const own = () => inFolder("koffi.node");

  const later = () => Date.now() + 60_000;
  const record = (loaded = [...linked, own()], since = later()) =>
    recordComparison(made, loaded, since, folder.path);
  const recall = (context = made.context) => recallComparison(context, folder.path);

  beforeEach(async () => {
    await mkdir(inFolder("bin"));
    await mkdir(inFolder("earlier"));
    await copyFile(installed, inFolder("bin/ffmpeg"));
    await writeFile(own(), "a library");
    process.env.PATH = `${inFolder("earlier")}:${inFolder("bin")}:${path}`;
  });
  afterEach(() => {
    process.env.PATH = path;
  });

  it("is known after it was recorded, by the version of ffmpeg", async () => {
    expect(recall()).to.equal(undefined);
    await record();
    expect(recall()).to.equal("5.1");
    expect(linked).to.have.lengthOf(5);
  });

  for (const [change, make] of [
    ["ffmpeg has been replaced", () => copyFile(installed, inFolder("bin/ffmpeg"))],
    ["ffmpeg has been removed", () => rm(inFolder("bin/ffmpeg"))],
    ["another ffmpeg comes first on PATH", () => copyFile(installed, inFolder("earlier/ffmpeg"))],
    ["a loaded file has other bytes", () => appendFile(own(), "!")],
    ["a loaded file has another time", () => utimes(own(), 0, 0)],
    ["a loaded file is missing", () => rm(own())],
    ["its record is damaged", () => writeFile(inFolder("encoders.json"), "{")],
  ] as const) {
    it(`is not known if ${change}`, async () => {
      await record();
      await make();
      expect(recall()).to.equal(undefined);
    });
  }

  it("is not known if something else that decides the bytes has changed", async () => {
    await record();
    expect(recall("mp3 with other options")).to.equal(undefined);
  });

  it("is recorded only if ffmpeg has loaded the same libraries", async () => {
    await record(linked.slice(1));
    expect(recall()).to.equal(undefined);
    await record([...linked.slice(1), inFolder("libmp3lame.so.0")]);
    expect(recall()).to.equal(undefined);
    await writeFile(inFolder("bin/ffmpeg"), `#!/bin/sh\nexec ${installed} "$@"\n`);
    await chmod(inFolder("bin/ffmpeg"), 0o755);
    await record();
    expect(recall()).to.equal(undefined);
  });

  it("is not recorded if a file has changed since it began", async () => {
    await record(undefined, Date.now() - 60_000);
    expect(recall()).to.equal(undefined);
  });

  it("is recorded for this user only", async () => {
    await record();
    expect(await readFile(inFolder("encoders.json"), "utf8")).to.include("5.1");
    expect(execFileSync("stat", ["-c", "%a", inFolder("encoders.json")], { encoding: "utf8" })).to.equal(
      "600\n",
    );
  });
});
