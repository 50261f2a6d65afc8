import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type Core, composeCore } from "../../../src/bootstrap/core.ts";
import { createLogger } from "../../../src/bootstrap/observability.ts";
import { createProgram, run } from "../../../src/cli/program.ts";
import { readSettings } from "../../../src/settings/read-settings.ts";

const unused = (): never => {
  throw new Error("No command of voices concerns audio.");
};
const otherServices = {
  deleteAudio: unused,
  audioReports: { list: unused, find: unused, purge: unused },
  acceptClock: unused,
  handOverSealKey: unused,
  eraseWebsite: unused,
  pinPageScripts: unused,
  publicUrl: "",
};

describe("the voices commands", () => {
  let folder: string;
  let core: Core;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "voxledger-cli-"));
    core = await composeCore(readSettings({ DATA_DIR: folder }), createLogger("silent"));
  });
  after(async () => {
    await core.close();
    await rm(folder, { recursive: true });
  });

  const voxledger = async (...args: string[]) => {
    let [stdout, stderr] = ["", ""];
    const program = createProgram(async (work) => work({ ...core, ...otherServices }), {
      writeOut: (text) => {
        stdout += text;
      },
      writeErr: (text) => {
        stderr += text;
      },
    });
    const exitCode = await run(program, ["node", "voxledger", ...args]);
    return { exitCode, stdout, stderr };
  };
  const json = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await voxledger(...args, "--json");
    expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: "" });
    return JSON.parse(stdout);
  };
  const aSystemVoice = (name: string) =>
    json(
      ...["system-voice", "add", name, "--lang", "de-DE", "--engine", "g1"],
      ...["--voice-name", "espeak:gmw/de", "--gender", "m"],
    );
  const aVoice = (name: string, ids: readonly number[]) =>
    json(
      ...["voice", "add", name, "--lang", "de-DE", "--flag", "de", "--gender", "m"],
      ...["--system-voice", ...ids.map(String)],
    );

  it("add system voices and voices that refer to them in fallback order", async () => {
    const [first, second] = [await aSystemVoice("first"), await aSystemVoice("second")];
    expect(first).to.deep.include({ service: "g1", voiceName: "espeak:gmw/de", gender: "m" });
    const voice = await aVoice("Klaus", [second.id, first.id]);
    expect(voice).to.deep.equal({
      ...{ name: "Klaus", lang: "de-DE", flag: "de", gender: "m" },
      voiceIDs: [second.id, first.id],
    });
    expect(await json("voice", "list", "--lang", "de-DE")).to.deep.include(voice);
    expect(await json("voice", "list", "--lang", "fr-FR")).to.deep.equal([]);
    expect(await json("system-voice", "list")).to.deep.include(first);
  });

  it("add a native voice of browsers", async () => {
    const { service, ...voice } = await json("system-voice", "add", "Samantha", "--lang", "en-US");
    expect([service, voice.name]).to.deep.equal([undefined, "Samantha"]);
    expect((await voxledger("system-voice", "list")).stdout).to.match(/^\d+ +Samantha +en-US +browsers/m);
  });

  it("change the given members, deprecate and restore a voice", async () => {
    const { id } = await aSystemVoice("third");
    await aVoice("Otto", [id]);
    expect(await json("voice", "change", "Otto", "--flag", "at")).to.include({ flag: "at", lang: "de-DE" });
    expect((await json("voice", "deprecate", "Otto")).deprecated).to.equal(true);
    expect((await voxledger("voice", "list")).stdout).to.match(/^Otto .*deprecated$/m);
    expect((await json("voice", "change", "Otto", "--no-deprecated")).deprecated).to.equal(false);
    expect((await json("system-voice", "deprecate", String(id))).deprecated).to.equal(true);
  });

  it("fail with one line and exit code 1", async () => {
    for (const [args, line] of [
      [["voice", "deprecate", "nobody"], /no voice of that name/],
      [["voice", "change", "nobody", "--flag", "at"], /no voice of that name/],
      [["system-voice", "deprecate", "7"], /no system voice 7/],
      [["system-voice", "add", "x", "--lang", "!"], /^error: lang: /],
      [
        ["voice", "add", "x", "--lang", "de", "--flag", "de", "--gender", "f", "--system-voice", "7"],
        /^error: voiceIDs\.0: /,
      ],
    ] as const) {
      const { exitCode, stdout, stderr } = await voxledger(...args);
      expect({ exitCode, stdout }, args.join(" ")).to.deep.equal({ exitCode: 1, stdout: "" });
      expect(stderr)
        .to.match(line)
        .and.to.match(/^error: .+\n$/);
    }
  });

  it("exit with code 2 for an unknown command", async () => {
    for (const args of [
      ["voice"],
      ["voice", "add", "x"],
      ["voice", "add", "x", "--lang", "de", "--flag", "de", "--gender", "x", "--system-voice", "1"],
      ["voice", "add", "x", "--lang", "de", "--flag", "de", "--gender", "f", "--system-voice", "one"],
      ["system-voice", "deprecate", "first"],
      ["system-voice", "add", "x", "--lang", "de", "--engine", "g9"],
    ]) {
      const { exitCode, stdout } = await voxledger(...args);
      expect({ exitCode, stdout }, args.join(" ")).to.deep.equal({ exitCode: 2, stdout: "" });
    }
  });
});
