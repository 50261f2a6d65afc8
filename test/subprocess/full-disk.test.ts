import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

interface Report {
  readonly failure: string | undefined;
  readonly bytes: number;
  readonly objects: readonly string[];
}

/**
 * Speaks in a separate mount namespace, where /dev/shm has 1 MB and /tmp has `tmpSize`. The repository may be under
 * /tmp, so it is bind-mounted elsewhere first.
 * The audio store is under /run.
 */
const speakWith = async (tmpSize: "1m" | "64m"): Promise<Report> => {
  const script = `
    mount --bind "$0" /mnt && cd /mnt &&
    mount -t tmpfs tmpfs /run &&
    mount -t tmpfs -o size=1m tmpfs /dev/shm &&
    mount -t tmpfs -o size=${tmpSize} tmpfs /tmp &&
    exec node_modules/.bin/node test/subprocess/speak-on-small-disk.ts`;
  const { stdout } = await run("unshare", ["-rm", "/bin/sh", "-euc", script, repository]);
  return JSON.parse(stdout) as Report;
};

describe("Speech tools on a full disk", function () {
  this.timeout(60_000);

  it("fail and store nothing when no directory has room for the tool's output file", async () => {
    const { failure, objects } = await speakWith("1m");
    expect(failure).to.match(/^EngineFailed: .*does not have the length in its header/);
    expect(objects).to.deep.equal([]);
  });

  it("use /tmp when /dev/shm has no room, and leave no file behind", async () => {
    const { failure, bytes, objects } = await speakWith("64m");
    expect(failure).to.equal(undefined);
    expect(bytes).to.be.above(100_000);
    expect(objects).to.have.length(1);
  });
});
