import { expect } from "chai";
import type { HostProcess, Ready } from "../../src/subprocess/host-process.ts";
import { superviseHostProcess } from "../../src/subprocess/supervisor.ts";
import { ToolFailed } from "../../src/subprocess/tools.ts";
import { rejection } from "../support/rejection.ts";

const options = { path: "", encodersAhead: {}, speakers: 1, codecFolder: undefined };
const found: Ready = {
  type: "ready",
  versions: { "espeak-ng": "1.51", ffmpeg: "5.1" },
  espeak: "library",
  encoderFallback: undefined,
};

/** Processes that report these, one after the other. */
const superviseReports = (reports: readonly Ready[]) => {
  const warnings: string[] = [];
  const closed: Ready[] = [];
  const ends: (() => void)[] = [];
  const left = [...reports];
  const startProcess = async (): Promise<HostProcess> => {
    const report = left.shift() ?? found;
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    ends.push(resolve);
    const close = async (): Promise<void> => {
      closed.push(report);
      resolve();
    };
    return { report, gone, pid: ends.length, close } as unknown as HostProcess;
  };
  const supervisor = superviseHostProcess(options, (sentence) => warnings.push(sentence), startProcess);
  /** Ends the running process. */
  const end = async (): Promise<void> => {
    ends.at(-1)?.();
    await new Promise(setImmediate);
  };
  return { supervisor, warnings, closed, end };
};

describe("The supervisor of the helper process", () => {
  const changed = "not those that were found when the service started";
  const others: Readonly<Record<string, { other: Ready; warning: string }>> = {
    "lacks a tool": {
      other: { ...found, versions: { ffmpeg: "5.1" }, espeak: undefined },
      warning: changed,
    },
    "finds another version of a tool": {
      other: { ...found, versions: { ...found.versions, ffmpeg: "6.0" } },
      warning: changed,
    },
    "cannot use espeak-ng's library": {
      other: { ...found, espeak: "command" },
      warning: "The library of espeak-ng can no longer be used",
    },
  };
  for (const [what, { other, warning }] of Object.entries(others)) {
    it(`refuses a later process that ${what}, says so, and starts another`, async () => {
      const { supervisor, warnings, closed, end } = superviseReports([found, other, found]);
      await supervisor.current();
      await end();
      expect(await rejection(supervisor.current())).to.be.instanceOf(ToolFailed);
      expect(closed).to.deep.equal([other]);
      expect(warnings).to.have.lengthOf(2);
      expect(warnings[1]).to.include(warning);
      expect((await supervisor.current()).report).to.equal(found);
    });
  }

  it("accepts a later process that speaks by the library, although the first one spoke by the command line", async () => {
    const { supervisor, end } = superviseReports([{ ...found, espeak: "command" }, found]);
    await supervisor.current();
    await end();
    expect((await supervisor.current()).report.espeak).to.equal("library");
  });
});
