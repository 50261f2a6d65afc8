import { Writable } from "node:stream";
import { expect } from "chai";
import { createLogger } from "../../src/bootstrap/observability.ts";
import { EngineFailed, Unavailable } from "../../src/domain/errors.ts";

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
