import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { composeCommandLine } from "../../../src/bootstrap/commands/command-line.ts";
import { createProgram, run } from "../../../src/cli/program.ts";
import { readSettings } from "../../../src/settings/read-settings.ts";
import { duringSuite } from "../../support/during.ts";
import { temporaryFolder } from "../../support/service.ts";

const rules = [{ grapheme: "W3C", alias: "World Wide Web Consortium" }];
const pls = `<lexicon version="1.0" xml:lang="en">
  <lexeme><grapheme>W3C</grapheme><alias>World Wide Web Consortium</alias></lexeme>
</lexicon>`;

describe("the lexicons commands", () => {
  const folder = duringSuite(temporaryFolder);
  let website: string;

  before(async () => {
    website = JSON.parse((await voxledger("website", "create", "Shop", "--json")).stdout).id;
  });

  /** Each command opens the event store for itself, as it does in a process of its own. */
  const voxledger = async (...args: string[]) => {
    let [stdout, stderr] = ["", ""];
    const settings = readSettings({ DATA_DIR: folder.path });
    const program = createProgram(
      async (work, access = { writes: false }) => {
        const services = await composeCommandLine(settings, access);
        try {
          return await work(services);
        } finally {
          await services.close();
        }
      },
      {
        writeOut: (text) => {
          stdout += text;
        },
        writeErr: (text) => {
          stderr += text;
        },
      },
    );
    const exitCode = await run(program, ["node", "voxledger", ...args]);
    return { exitCode, stdout, stderr };
  };
  const lexicons = (...args: string[]) => voxledger("lexicons", ...args);
  const file = async (content: string): Promise<string> => {
    const path = join(folder.path, "lexicon");
    await writeFile(path, content);
    return path;
  };

  it("set a lexicon from a file with JSON or PLS, show it, list all and remove one", async () => {
    const set = await lexicons("set", website, "json", await file(JSON.stringify({ lang: "en", rules })));
    expect(set).to.deep.include({ exitCode: 0, stderr: "" });
    expect(set.stdout)
      .to.match(/^version +1$/m)
      .and.to.match(/^rules +1$/m);
    expect((await lexicons("set", website, "xml", await file(pls))).exitCode).to.equal(0);
    const [json, xml] = await Promise.all(
      ["json", "xml"].map(async (name) =>
        JSON.parse((await lexicons("show", website, name, "--json")).stdout),
      ),
    );
    expect(json.rules).to.deep.equal(rules);
    expect(xml).to.deep.include({ digest: json.digest, lang: "en", version: 2 });
    expect((await lexicons("show", website, "xml")).stdout).to.match(/^W3C +World Wide Web Consortium$/m);
    expect((await lexicons("list", website)).stdout).to.match(/^json +1 +en +1 .*\nxml +2 +en +1 /m);
    expect((await lexicons("remove", website, "json")).stdout).to.equal("The lexicon json is removed.\n");
    expect((await lexicons("show", website, "json")).exitCode).to.equal(1);
  });

  it("name what is wrong with a lexicon", async () => {
    const { exitCode, stderr } = await lexicons(
      "set",
      website,
      "bad",
      await file('{"rules":[{"grapheme":"a"}]}'),
    );
    expect([exitCode, stderr]).to.deep.equal([
      1,
      "error: rules.0.alias: A rule needs an alias or a phoneme.\n",
    ]);
    expect((await lexicons("set", website, "bad", await file("nothing"))).stderr).to.include("is not JSON");
    expect((await lexicons("set", website, "a b", await file(pls))).stderr).to.include(
      "A lexicon's name has 1 to 64 letters",
    );
    expect((await lexicons("set", "web_none", "x", await file(pls))).stderr).to.include("no such website");
  });
});
