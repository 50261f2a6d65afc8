import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect } from "chai";

const requests = new URL("../../../src/subprocess/host/requests.ts", import.meta.url).href;
const program = `import { readRequests } from ${JSON.stringify(requests)};
for await (const { content } of readRequests()) {
  if (content === "fail") throw new Error("The request fails.");
  process.stderr.write(content);
}`;

/** fcntl.h */
const nonBlocking = 0o4000;

const start = () =>
  spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "-e", program], {
    stdio: ["pipe", "pipe", "pipe"],
  });

describe("A program that reads requests", () => {
  // Otherwise a write fails with EAGAIN where the service reads more slowly than the program
  // writes.
  it("waits when it writes more audio than the service has read", async () => {
    const child = start();
    child.stdin.write('"reading"\n');
    const [begun] = await once(child.stderr, "data");
    expect(String(begun)).to.equal("reading");
    const [, flags = ""] = /flags:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/fdinfo/1`, "utf8")) ?? [];
    expect(Number.parseInt(flags, 8) & nonBlocking).to.equal(0);
    child.stdin.end();
    await once(child, "exit");
  });

  it("ends when it has failed, although its input is open", async () => {
    const child = start();
    child.stdin.write('"fail"\n');
    const [code] = await once(child, "exit");
    expect(code).to.equal(1);
  });
});
