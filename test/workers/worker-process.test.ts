import { expect } from "chai";
import { CallFailed } from "../../src/workers/port.ts";
import { forkWorker } from "../../src/workers/worker-process.ts";
import { rejection } from "../support/rejection.ts";

type Calls = { ping: { request: undefined; response: undefined } };

const fork = (sockets: readonly { readonly fd: number }[] = []) => {
  const entry = new URL("file:///dev/null");
  return forkWorker<Calls, Record<never, never>>({ entry, argument: "", sockets, handlers: {} });
};

describe("a worker process that cannot be started", () => {
  /** The fork fails by an event, as it does if the system has no process left. */
  it("has ended at once, if the failure is reported later", async () => {
    const { execPath } = process;
    process.execPath = "/proc/none";
    try {
      const worker = fork();
      const exit = await worker.exited;
      expect(exit).to.include({ code: null, signal: null });
      expect(exit.error).to.have.property("code", "ENOENT");
      expect(await rejection(worker.port.call("ping", undefined))).to.be.instanceOf(CallFailed);
      worker.kill();
    } finally {
      process.execPath = execPath;
    }
  });

  it("has ended at once, if the failure is thrown", async () => {
    const worker = fork([{ fd: 1_000_000 }]);
    const exit = await worker.exited;
    expect(exit).to.include({ code: null, signal: null });
    expect(exit.error).to.have.property("code", "EBADF");
    expect(await rejection(worker.port.call("ping", undefined))).to.be.instanceOf(CallFailed);
    worker.kill();
  });
});
