import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { withTemporaryFolder } from "./child-process.ts";
import { rejection } from "./rejection.ts";
import { runPython } from "./run-python.ts";

const running = async (script: string, use: (file: string) => Promise<void>): Promise<void> =>
  withTemporaryFolder(async (folder) => {
    const file = join(folder, "script.py");
    await writeFile(file, script);
    await use(file);
  });

describe("the Python clients", () => {
  it("are installed, and scripts exchange JSON with the tests", async () => {
    const script = `
import json, sys
import elevenlabs, openai, wyoming
print(json.dumps({"given": json.load(sys.stdin), "clients": [elevenlabs.__name__, openai.__name__, wyoming.__name__]}))
`;
    await running(script, async (file) => {
      expect(await runPython(file, { text: "Grüße" })).to.deep.equal({
        given: { text: "Grüße" },
        clients: ["elevenlabs", "openai", "wyoming"],
      });
    });
  });

  it("report a failed script with its error output", async () => {
    await running('raise SystemExit("no such voice")', async (file) => {
      expect(String(await rejection(runPython(file, {})))).to.match(/ended with 1: no such voice/);
    });
  });
});
