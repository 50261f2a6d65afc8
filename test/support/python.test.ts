import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { withTemporaryFolder } from "./child-process.ts";
import { openPython, type PythonScript } from "./python.ts";
import { rejection } from "./rejection.ts";

const running = (script: string, use: (opened: PythonScript) => Promise<void>): Promise<void> =>
  withTemporaryFolder(async (folder) => {
    const file = join(folder, "script.py");
    await writeFile(file, script);
    const opened = openPython(file);
    await use(opened);
    await opened.close();
  });

describe("the Python clients", () => {
  it("are installed, and scripts exchange JSON with the tests", async () => {
    const script = `
import json, sys
import elevenlabs, openai, wyoming
clients = [elevenlabs.__name__, openai.__name__, wyoming.__name__]
for line in sys.stdin:
    print(json.dumps({"given": json.loads(line), "clients": clients}), flush=True)
`;
    await running(script, async ({ ask }) => {
      const clients = ["elevenlabs", "openai", "wyoming"];
      const responses = await Promise.all(["Grüße", "two\nlines"].map((text) => ask({ text })));
      expect(responses).to.deep.equal([
        { given: { text: "Grüße" }, clients },
        { given: { text: "two\nlines" }, clients },
      ]);
    });
  });

  it("report a failed script with its error output, and start it again", async () => {
    await running('raise SystemExit("no such voice")', async ({ ask }) => {
      for (const _ of ["once", "twice"])
        expect(String(await rejection(ask({})))).to.match(/ended with 1: no such voice/);
    });
  });
});
