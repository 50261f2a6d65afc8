import { execFile } from "node:child_process";
import { Writable } from "node:stream";
import { promisify } from "node:util";
import { expect } from "chai";
import { loggableMessage } from "../../src/audio/pipeline/log.ts";
import { createErrorLog, createLogger } from "../../src/bootstrap/observability.ts";
import { EngineFailed, KeyIsSuspended, Unavailable, Unpronounceable } from "../../src/domain/errors.ts";
import { EventStoreLost } from "../../src/eventstore/event-store.ts";
import { ToolFailed } from "../../src/subprocess/tools.ts";

describe("The log", () => {
  const logged = (error: unknown): Record<string, unknown> => {
    const lines: string[] = [];
    const stream = new Writable({
      write: (line, _, done) => {
        lines.push(String(line));
        done();
      },
    });
    createLogger("trace", stream).error({ err: error }, "failed");
    return JSON.parse(lines[0] ?? "").err;
  };

  it("has no words of a provider, also as a cause, and where the error was thrown", () => {
    const quoting = new EngineFailed("Cannot speak: my secret.", { loggable: "The provider refused." });
    const error = new Unavailable("The stream was interrupted.", 1, { cause: quoting });
    const { type, message, stack, cause } = logged(error);
    expect({ type, message }).to.deep.equal({ type: "Unavailable", message: "The stream was interrupted." });
    expect(stack)
      .to.match(/^ +at /)
      .and.include("observability.test.ts");
    expect(cause).to.include({ type: "EngineFailed", message: "The provider refused." });
    expect(JSON.stringify(logged(error))).to.not.include("secret");
  });

  it("has no characters of a text, also where the error is that of a cause", () => {
    const refusal = new Unpronounceable("ꕙ");
    expect(refusal.message).to.include("ꕙ (U+A559)");
    for (const error of [refusal, new Unavailable("The stream was interrupted.", 1, { cause: refusal })]) {
      expect(JSON.stringify(logged(error))).to.not.match(/ꕙ|A559/);
    }
    expect(loggableMessage(refusal)).to.equal("The request is invalid.");
  });

  it("has how a tool's process ended, also where its failure is a cause", () => {
    const crash = new ToolFailed("exit", "espeak-ng failed.", { end: { signal: "SIGSEGV" } });
    const { cause } = logged(new Unavailable("The audio could not be encoded.", 5, { cause: crash }));
    expect(cause).to.include({ message: "espeak-ng failed.", signal: "SIGSEGV" });
    expect(logged(new ToolFailed("exit", "flite failed.", { end: { exitCode: 0 } }))).to.include({
      exitCode: 0,
    });
  });

  it("has an operator's reason for a suspension nowhere", () => {
    const { loggable, message } = new KeyIsSuspended("abuse by Ann", "operator");
    expect(message).to.include("abuse by Ann");
    expect(loggable).to.equal("The key is suspended. Only the operator can reinstate it.");
  });

  it("has no line for work that fails because the log is lost", () => {
    const lines: string[] = [];
    const report = createErrorLog({ warn: (_: object, what: string) => void lines.push(what) });
    const lost = new EventStoreLost("its file was removed or replaced");
    report("a view has stopped", lost);
    report("usage could not be posted", new Unavailable("The event store failed.", 1, { cause: lost }));
    report("a request got no response", new Error("a fault"));
    expect(lines).to.deep.equal(["a request got no response"]);
  });

  it("shares standard output with every other log of its process, and one listener for the exit", () => {
    createLogger("silent");
    const listeners = process.listenerCount("exit");
    for (let count = 0; count < 20; count++) createLogger("silent");
    expect(process.listenerCount("exit")).to.equal(listeners);
  });

  it("ends with the number of lines that were dropped because nobody took them", async () => {
    const written = 20_000;
    const program = `
      import { createLogger } from "./src/bootstrap/observability.ts";
      const log = createLogger("info");
      for (let line = 0; line < ${written}; line++) log.info("x".repeat(1_000));`;
    const args = ["--input-type=module", "-e", program];
    const { stdout } = await promisify(execFile)("scripts/node", args, { maxBuffer: 2 ** 26 });
    const lines = stdout.trimEnd().split("\n");
    const { dropped, ...last } = JSON.parse(lines.at(-1) ?? "");
    expect(last).to.include({ level: "warn", msg: "lines of the log were dropped" });
    expect(dropped).to.be.above(0);
    expect(lines.length - 1 + dropped).to.equal(written);
  });

  it("has the code of a system error, and none of the input that Node adds to an error", () => {
    const error = Object.assign(new TypeError("Invalid URL"), {
      code: "ERR_INVALID_URL",
      input: "my secret",
    });
    expect(logged(error)).to.include({ type: "TypeError", message: "Invalid URL", code: "ERR_INVALID_URL" });
    expect(JSON.stringify(logged(error))).to.not.include("secret");
  });

  it("ends with the fifth cause of an error, which may be its own", () => {
    const error = new Error("a circle");
    error.cause = error;
    expect(JSON.stringify(logged(error)).match(/a circle/g)).to.have.length(6);
    expect(logged("no error")).to.equal("no error");
  });
});
