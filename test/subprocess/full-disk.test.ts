import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

interface Outcome {
  readonly failure?: string;
  readonly bytes: number;
}
interface Report {
  readonly outcomes: readonly Outcome[];
  readonly lost: number;
  readonly isFull: boolean;
  readonly objects: readonly string[];
  /** The failure of `ping`, which health shows. */
  readonly health: string | undefined;
}

/**
 * Speaks in a separate mount namespace, where /dev/shm has 1 MB and /tmp has `tmpSize`. The
 * repository may be under /tmp, so it is bind-mounted elsewhere first. The audio store is under
 * /run, which has `storeSize`.
 */
const speakWith = async (
  { tmpSize, storeSize = "64m" }: { tmpSize: "1m" | "64m"; storeSize?: string },
  scenario: "one" | "fill" | "enospc",
): Promise<Report> => {
  const script = `
    mount --bind "$0" /mnt && cd /mnt &&
    mount -t tmpfs -o size=${storeSize} tmpfs /run &&
    mount -t tmpfs -o size=1m tmpfs /dev/shm &&
    mount -t tmpfs -o size=${tmpSize} tmpfs /tmp &&
    exec node_modules/.bin/node test/subprocess/speak-on-small-disk.ts ${scenario}`;
  const { stdout } = await run("unshare", ["-rm", "/bin/sh", "-euc", script, repository]);
  return JSON.parse(stdout) as Report;
};

describe("Speech tools on a full disk", () => {
  it("fail and store nothing when no directory has room for the tool's output file", async () => {
    const { outcomes, objects } = await speakWith({ tmpSize: "1m" }, "one");
    expect(outcomes[0]?.failure).to.match(/^EngineFailed: .*does not have the length in its header/);
    expect(objects).to.deep.equal([]);
  });

  it("use /tmp when /dev/shm has no room, and leave no file behind", async () => {
    const { outcomes, objects } = await speakWith({ tmpSize: "64m" }, "one");
    expect(outcomes[0]?.failure).to.equal(undefined);
    expect(outcomes[0]?.bytes).to.be.above(100_000);
    expect(objects).to.have.length(1);
  });
});

describe("The audio store on a full disk", () => {
  it("serves new audio without storing it, keeps a part of the disk free, and recovers by itself", async () => {
    const report = await speakWith({ tmpSize: "64m", storeSize: "2m" }, "fill");
    expect(report.outcomes.filter(({ failure }) => failure !== undefined)).to.deep.equal([]);
    expect(report.health).to.match(/^The audio store is full: 1 MB of its disk are kept free/);
    expect(report.isFull).to.equal(true);
    // The process removes its ballast at the end: what waited is stored then.
    expect(report.lost).to.equal(0);
    expect(report.objects).to.have.length(report.outcomes.length);
  });

  it("leaves no partial object when the disk fills up during a write", async () => {
    const report = await speakWith({ tmpSize: "64m", storeSize: "2m" }, "enospc");
    expect(report.outcomes[0]?.failure).to.equal("Error: ENOSPC: no space left on device, write");
    expect(report.objects).to.deep.equal([]);
    expect(report.outcomes[1], "after space was freed").to.deep.equal({ bytes: 800_000 });
  });
});

describe("The event log on a full disk", () => {
  it("serves only audio that it has recorded, responds 503 to everything else, and serves again when there is space", async () => {
    const script = `
      mount --bind "$0" /mnt && cd /mnt &&
      mount -t tmpfs -o size=24m tmpfs /tmp &&
      exec node_modules/.bin/node test/subprocess/serve-on-small-disk.ts`;
    const { stdout } = await run("unshare", ["-rm", "/bin/sh", "-euc", script, repository]);
    const { before, during, command, after, recorded } = JSON.parse(stdout);
    // SQLite may still have space in its own files for some events.
    const statuses: number[] = [before, ...during, ...after];
    expect(new Set([...statuses, 503])).to.deep.equal(new Set([200, 503]));
    expect(command).to.be.oneOf([201, 503]);
    expect(recorded).to.equal(statuses.filter((status) => status === 200).length);
  });
});
