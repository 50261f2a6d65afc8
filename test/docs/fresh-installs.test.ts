import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { serveLocally } from "../support/local-server.ts";
import { temporaryFolder } from "../support/service.ts";
import { secondsOf } from "../support/streams.ts";
import { type FreshInstall, openFreshInstall, type Typed } from "./fresh-install.ts";
import { isTyped, pages, readPage, snippetsOf } from "./pages.ts";

const run = promisify(execFile);

/** What differs from run to run, replaced; numbers too, because times and sizes do. */
const mask = (line: string): string =>
  line
    .replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, "UUID")
    .replace(/\b[0-9a-f]{64}\b/g, "HASH")
    .replace(/\b(vlk|vls|web|sec|whk|whsec)_[\w+/=]+/g, "$1_ID")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/\d+([.,]\d+)*/g, "#")
    .trimEnd();

const toPattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** A line `…` stands for any number of lines. */
const patternOf = (shown: string): RegExp => {
  const lines = shown.trimEnd().split("\n");
  const parts = lines.map((line) => (line === "…" ? "(?:.*\\n)*?" : `${toPattern(mask(line))}\\n`));
  return new RegExp(`^${parts.join("")}$`);
};

const expectShown = ({ command, shown, printed }: Typed): void => {
  if (shown.trim() === "") return;
  const masked = `${printed.trimEnd().split("\n").map(mask).join("\n")}\n`;
  expect(masked, command).to.match(patternOf(shown));
};

const isAboutNaturalVoices = (path: string): boolean => /README|natural-voices/.test(path);

describe("the commands of the documents", () => {
  const typedOf = (path: string) => snippetsOf(readPage(path)).filter(isTyped);
  for (const path of pages.filter((page) => typedOf(page).length > 0)) {
    it(`work on a fresh install, and print what ${path} shows`, async () => {
      const install = await openFreshInstall(isAboutNaturalVoices(path) ? "natural" : "classic");
      try {
        for (const command of await install.type(typedOf(path))) expectShown(command);
        await expectAudible(install);
      } finally {
        await install.close();
      }
    });
  }
});

/** Every file of audio that the commands have written lasts for a while. */
const expectAudible = async ({ folder }: FreshInstall): Promise<void> => {
  const names = (await readdir(folder)).filter((name) => /\.(mp3|wav|flac|ogg)$/.test(name));
  for (const name of [...names, "data/hello.mp3"]) {
    expect(await secondsOf(await readFile(join(folder, name))), name).to.be.within(0.3, 10);
  }
};

describe("scripts/quickstart", () => {
  it("prints where the service is and what to type next", async () => {
    const install = await openFreshInstall("classic");
    try {
      expect(install.greeting)
        .to.include("Voxledger synthesized a sentence")
        .and.to.include("scripts/voxledger audit");
    } finally {
      await install.close();
    }
  });

  it("starts nothing where something listens already", async () => {
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
