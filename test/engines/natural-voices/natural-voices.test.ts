import { cp, mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import {
  naturalVoicesFolder,
  openNaturalVoices,
} from "../../../src/engines/natural-voices/natural-voices.ts";
import { voicePackages } from "../../../src/engines/natural-voices/packages.ts";

const installedHere = naturalVoicesFolder(undefined) ?? "";

describe("natural voices", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "voxledger-voices-"));
  });

  afterEach(() => rm(folder, { recursive: true }));

  const names = async (): Promise<readonly string[]> => [
    ...(await openNaturalVoices(folder)).installed.keys(),
  ];

  it("are those whose files are all in the folder", async () => {
    await cp(join(installedHere, "pico"), join(folder, "pico"), { recursive: true });
    expect(await names()).to.deep.equal(
      ["en-GB", "de-DE", "fr-FR", "es-ES", "it-IT", "en-US"].map((name) => `pico:${name}`),
    );
    await rm(join(folder, "pico", "de-DE_ta.bin"));
    expect(await names()).not.to.include("pico:de-DE");
    expect((await openNaturalVoices(folder)).unusable).to.deep.equal([]);
  });

  it("do not exist without a folder, or in a folder that does not exist", async () => {
    for (const place of [join(folder, "absent"), naturalVoicesFolder("none")]) {
      const { installed, unusable } = await openNaturalVoices(place);
      expect([installed.size, unusable]).to.deep.equal([0, []]);
    }
  });

  it("do not include one with a file that differs from the published one, even of the same length", async () => {
    await cp(join(installedHere, "pico"), join(folder, "pico"), { recursive: true });
    const [, pico] = voicePackages;
    const [bytes = 0] = pico?.files["fr-FR_ta.bin"] ?? [];
    await writeFile(join(folder, "pico", "fr-FR_ta.bin"), Buffer.alloc(bytes));
    const { installed, unusable } = await openNaturalVoices(folder);
    expect(installed.has("pico:fr-FR")).to.equal(false);
    expect(installed.has("pico:de-DE")).to.equal(true);
    expect(unusable).to.deep.equal([{ package: "pico", message: "fr-FR_ta.bin is not the published file" }]);
  });

  it("are added when their files have come or were repaired, and remain when these are gone", async () => {
    await cp(join(installedHere, "pico"), join(folder, "pico"), { recursive: true });
    const [missing, damaged] = ["de-DE_ta.bin", "fr-FR_ta.bin"];
    await rm(join(folder, "pico", missing));
    await writeFile(join(folder, "pico", damaged), "damaged");
    const natural = await openNaturalVoices(folder);
    expect(await natural.refresh()).to.deep.equal([]);
    expect([natural.installed.size, natural.unusable.length]).to.deep.equal([4, 1]);
    for (const file of [missing, damaged])
      await cp(join(installedHere, "pico", file), join(folder, "pico", file));
    expect(await natural.refresh()).to.deep.equal(["pico:de-DE", "pico:fr-FR"]);
    expect([natural.installed.size, natural.unusable]).to.deep.equal([6, []]);
    await rm(join(folder, "pico"), { recursive: true });
    expect(await natural.refresh()).to.deep.equal([]);
    expect(natural.installed.size).to.equal(6);
  });

  it("are added when a file was repaired in place, although its size and time are the same", async () => {
    await cp(join(installedHere, "pico"), join(folder, "pico"), { recursive: true });
    const file = join(folder, "pico", "fr-FR_ta.bin");
    const published = await readFile(file);
    const write = async (content: Buffer): Promise<void> => {
      await writeFile(file, content);
      await utimes(file, 1, 1);
    };
    await write(Buffer.alloc(published.length));
    const natural = await openNaturalVoices(folder);
    expect(natural.installed.has("pico:fr-FR")).to.equal(false);
    await write(published);
    expect(await natural.refresh()).to.deep.equal(["pico:fr-FR"]);
  });

  it("report a file that cannot be read, without its path", async () => {
    await mkdir(join(folder, "pico"));
    await symlink("en-GB_ta.bin", join(folder, "pico", "en-GB_ta.bin")); // a loop
    const { unusable } = await openNaturalVoices(folder);
    expect(unusable).to.deep.equal([{ package: "pico", message: "en-GB_ta.bin cannot be read: ELOOP" }]);
  });
});
