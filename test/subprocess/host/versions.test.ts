import { expect } from "chai";
import { detectVersions } from "../../../src/subprocess/host/versions.ts";
import { ToolFailed } from "../../../src/subprocess/tools.ts";
import { duringTest } from "../../support/during.ts";
import { placeFakeTools } from "../../support/fake-tools.ts";
import { rejection } from "../../support/rejection.ts";

describe("The versions of the tools", () => {
  const tools = duringTest(placeFakeTools);
  const path = process.env.PATH;
  beforeEach(async () => {
    process.env.PATH = tools.directory;
  });
  afterEach(async () => {
    process.env.PATH = path;
  });

  it("omit a tool that is not installed, and one that reports none", async () => {
    await tools.place("flite", "echo 'version: flite-2.2-release'; exit 1");
    await tools.place("ffmpeg", "exit 127");
    expect(await detectVersions()).to.deep.equal({ flite: "2.2-release" });
  });

  it("are unknown if a tool does not report its own before the deadline", async () => {
    await tools.place("espeak-ng", "echo 'eSpeak NG text-to-speech: 1.5'; exec /bin/sleep 1000");
    const failure = await rejection(detectVersions({ deadlineMs: 200 }));
    expect(failure).to.be.instanceOf(ToolFailed);
    expect(failure).to.have.property("message").that.includes("espeak-ng did not report its version");
  });
});
