import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { SpeakerPool } from "../../../../src/subprocess/host/espeak/speaker-pool.ts";
import { ToolFailed } from "../../../../src/subprocess/tools.ts";
import { rejection } from "../../../support/rejection.ts";

const frames = new URL("../../../../src/subprocess/host/speaker-program.ts", import.meta.url);

describe("The first process of espeak-ng's library", () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "voxledger-speaker-"));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  /** Starts a pool whose processes run this program. */
  const startWith = async (program: string): Promise<string | undefined> => {
    const file = join(directory, "speaker.mjs");
    await writeFile(file, `import { reportFailure, reportReady } from "${frames.href}";\n${program}\n`);
    const pool = new SpeakerPool(1, pathToFileURL(file));
    try {
      return await pool.start();
    } finally {
      pool.kill();
    }
  };

  it("reports the version of the library", async () => {
    expect(await startWith('reportReady("1.51");')).to.equal("1.51");
  });

  it("reports no version if the library cannot be loaded", async () => {
    expect(await startWith('reportFailure(new Error("There is no such library."));')).to.equal(undefined);
  });

  const ends: Readonly<Record<string, string>> = {
    "is killed": 'process.kill(process.pid, "SIGKILL");',
    "aborts for lack of memory": "process.abort();",
    "ends without a report": "process.exit(1);",
  };
  for (const [what, program] of Object.entries(ends)) {
    it(`fails the start if it ${what}`, async () => {
      expect(await rejection(startWith(program))).to.be.instanceOf(ToolFailed);
    });
  }
});
