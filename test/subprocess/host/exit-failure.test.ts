import { expect } from "chai";
import { endFailure, exitFailure } from "../../../src/subprocess/host/exit-failure.ts";

describe("the failure of a tool by its error output", () => {
  for (const [what, stderr, message] of [
    ["nothing", "", "tool failed."],
    ["several lines", "\nno device\nmore\n", "tool failed: no device"],
    ["a text in quotes", 'cannot speak "a text"', "tool failed: cannot speak …"],
    ["a failure as a string of JSON", JSON.stringify('bad word "text" in a text'), "tool failed: …"],
    ["a path", "/tmp/file: not found", "tool failed: … not found"],
    [
      "a lack of memory that V8 reports",
      "\n\n#\n# Fatal process out of memory: Failed to reserve virtual memory for CodeRange\n#\n----- Native stack",
      "tool failed: Fatal process out of memory: Failed to reserve virtual memory for CodeRange",
    ],
    [
      "an error that V8 reports",
      "\n\n#\n# Fatal error in , line 0\n# Check failed: isolate.\n#\n#\n",
      "tool failed: Check failed: isolate.",
    ],
  ] as const) {
    it(`says its first line, without input and file names: ${what}`, () => {
      expect(exitFailure("tool", stderr)).to.deep.include({ reason: "exit", message });
    });
  }
});

describe("the failure of a tool by how its process has ended", () => {
  for (const [end, reason] of [
    [{ signal: "SIGKILL" }, "killed"],
    [{ signal: "SIGTERM" }, "killed"],
    [{ signal: "SIGXCPU" }, "deadline"],
    [{ signal: "SIGXFSZ" }, "flood"],
    [{ signal: "SIGSEGV" }, "exit"],
    [{ exitCode: 1 }, "exit"],
    [{}, "exit"],
  ] as const) {
    it(`has the exit code or the signal: ${JSON.stringify(end)}`, () => {
      expect(endFailure("tool", "", end)).to.deep.include({ reason, end });
    });
  }
});
