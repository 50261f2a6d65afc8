import { expect } from "chai";
import { registerWebsite, synthesize } from "../../support/client.ts";
import { runCommand } from "../../support/command-line.ts";
import { duringSuite } from "../../support/during.ts";
import { startInProcessService } from "../../support/in-process-service.ts";
import { serveLocally } from "../../support/local-server.ts";
import { temporaryFolder } from "../../support/service.ts";

const unknown = "c".repeat(64);
/** The month of the in-process service's clock. */
const november = ["--from", "2026-11-01", "--to", "2026-12-01"];

describe("the audio commands", () => {
  const folder = duringSuite(temporaryFolder);
  const cache = duringSuite(() =>
    serveLocally((request, response) => {
      purges.push(`${request.method} ${request.url}`);
      response.end();
    }),
  );
  let hash: string;
  const purges: (string | undefined)[] = [];

  before(async () => {
    const service = await startInProcessService({ DATA_DIR: folder.path });
    const website = await registerWebsite(service.url);
    for (const text of ["Audio.", "Audio.", "Other audio."]) {
      const response = await synthesize(service.url, website, { text, voice: "UK English Female" });
      await response.arrayBuffer();
      hash ??= (response.headers.get("ETag") ?? "").replaceAll('"', "");
    }
    await service.close();
  });
  beforeEach(() => {
    purges.length = 0;
  });

  const audio = (args: readonly string[], env: Record<string, string> = {}) =>
    runCommand({ DATA_DIR: folder.path, ...env }, ["audio", ...args]);
  const json = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await audio([...args, "--json"]);
    expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: "" });
    return JSON.parse(stdout);
  };

  it("list the most served audio of a period", async () => {
    const list = await json("list", ...november);
    expect(list).to.include({ served: 3, fromCache: 1, distinct: 2 });
    expect(list.sounds[0]).to.include({ hash, served: 2 });
    expect((await json("list", ...november, "--limit", "1")).sounds).to.have.length(1);
    const { stdout } = await audio(["list", ...november]);
    expect(stdout)
      .to.match(new RegExp(`^${hash} +g1 +UK English Female +2 +[\\d,]+$`, "m"))
      .and.to.match(/^2 sounds, served 3 times, 1 of them from cache\.$/m);
    const { stdout: none } = await audio(["list", "--from", "2026-10-01", "--to", "2026-10-02"]);
    expect(none).to.match(/^No sound was served\.$/m);
  });

  it("show the objects and servings of audio, and say that unknown audio has none", async () => {
    const { stdout } = await audio(["show", hash, ...november]);
    expect(stdout)
      .to.match(/^served +2 times, 1 of them synthesized$/m)
      .and.to.match(new RegExp(`^public/${hash}\\.mp3 +[\\d,]+ +\\d\\.\\d{3} +\\d{4}-`, "m"));
    const { stdout: other } = await audio(["show", unknown, ...november]);
    expect(other)
      .to.match(/^served +not in the period$/m)
      .and.to.match(/^The store has no object of it\.$/m);
  });

  it("purge audio from the CDN, and leave it in the store", async () => {
    const { stdout } = await audio(["purge", hash], { PURGE_URL: cache.url, PURGE_TOKEN: "a token" });
    expect(stdout).to.equal("The CDN was purged.\n");
    expect(purges).to.deep.equal([`PURGE /audio/${hash}`]);
    expect((await audio(["purge", hash])).stdout).to.equal("No CDN is configured (PURGE_URL).\n");
    expect((await json("show", hash, ...november)).objects).to.not.deep.equal([]);
  });

  it("delete audio, which then has no objects", async () => {
    const { sounds } = await json("list", ...november);
    const deleted = sounds[1].hash;
    expect((await audio(["delete", deleted])).stdout)
      .to.match(/^Deleted /)
      .and.to.include(`public/${deleted}.mp3`);
    expect(await json("show", deleted, ...november)).to.deep.include({ objects: [] });
  });

  it("refuse what is not a hash or a period", async () => {
    for (const command of ["show", "purge", "delete"]) {
      const { exitCode, stderr } = await audio([command, "../etc"]);
      expect({ exitCode, stderr }, command).to.deep.equal({
        exitCode: 1,
        stderr: "error: There is no such audio: a hash has 64 hexadecimal digits, as in the ETag.\n",
      });
    }
    expect((await audio(["list", "--from", "yesterday"])).stderr).to.match(/^error: from/);
    expect((await audio(["list", "--limit", "many"])).exitCode).to.equal(2);
  });
});
