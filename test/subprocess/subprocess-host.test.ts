import { fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { Unavailable } from "../../src/domain/errors.ts";
import {
  openSubprocessHost,
  type SubprocessHost,
  type SubprocessHostOptions,
} from "../../src/subprocess/subprocess-host.ts";
import { ToolFailed } from "../../src/subprocess/tools.ts";
import { collect } from "../support/collect.ts";
import { childrenOf, gone, isRunning, until } from "../support/processes.ts";
import { rejection } from "../support/rejection.ts";

const never = new AbortController().signal;
const speak = ["--stdin", "--stdout"];
/** It takes espeak-ng seconds, and more than what fits in a pipe. */
const long = "A long word. ".repeat(20_000);

const say = (host: SubprocessHost, input: string, signal = never, limits = {}) =>
  host.run({ tool: "espeak-ng", args: speak, output: "pipe", input, ...limits }, signal);
const sayWhole = async (...args: Parameters<typeof say>) => Buffer.concat(await collect(say(...args)));
const flite = (host: SubprocessHost, input: string, signal = never, limits = {}) => {
  const args = ["-voice", "slt", "-f", "-", "-o", "/dev/stdout"];
  return host.run({ tool: "flite", args, output: "file", input, ...limits }, signal);
};

const pidOf = (host: SubprocessHost): number => {
  const { pid } = host.stats();
  if (pid === undefined) throw new Error("the host has no helper process");
  return pid;
};
const toolsOf = (host: SubprocessHost, command: string) =>
  childrenOf(pidOf(host)).filter((one) => one.command === command);
const reasonOf = async (work: Promise<unknown>) => {
  const failure = await rejection(work);
  expect(failure).to.be.instanceOf(ToolFailed);
  return (failure as ToolFailed).reason;
};

/** A ping gives up earlier than a busy machine starts a process. */
const pong = async (host: SubprocessHost): Promise<void> => {
  try {
    await host.ping();
  } catch (error) {
    if (!(error instanceof ToolFailed)) throw error;
    await pong(host);
  }
};

describe("The subprocess host", () => {
  const opened: SubprocessHost[] = [];
  const open = async (options: SubprocessHostOptions = {}): Promise<SubprocessHost> => {
    const host = await openSubprocessHost({ encodersAhead: { mp3: 0, ogg: 0 }, ...options });
    opened.push(host);
    return host;
  };
  afterEach(() => Promise.all(opened.splice(0).map((host) => host.close())));

  it("knows the versions of the tools that are installed", async () => {
    const { versions } = await open();
    expect(versions).to.have.all.keys("espeak-ng", "flite", "ffmpeg");
    expect((await open({ path: "/nonexistent" })).versions).to.deep.equal({});
  });

  it("gives a long output whole and in order to a reader that takes its time", async () => {
    const host = await open();
    const text = "One, two, three. ".repeat(300);
    const allAtOnce = await sayWhole(host, text);
    const slowly: Buffer[] = [];
    for await (const piece of say(host, text)) {
      slowly.push(piece);
      await new Promise(setImmediate);
    }
    expect(allAtOnce.length).to.be.above(10_000_000);
    expect(Buffer.concat(slowly).equals(allAtOnce)).to.equal(true);
  });

  it("holds a tool back whose output nobody reads", async () => {
    const host = await open();
    const stop = new AbortController();
    const reader = say(host, long, stop.signal)[Symbol.asyncIterator]();
    await reader.next();
    const [tool] = toolsOf(host, "espeak-ng");
    const waits = () => /^State:\s+S/m.test(readFileSync(`/proc/${tool?.pid}/status`, "utf8"));
    await until("the tool waits for its reader", waits);
    stop.abort(new Error("enough"));
    await rejection(Promise.resolve(reader.next()));
  });

  it("gives the tools a bare environment: no secret of the service's goes along", async () => {
    process.env.VOXLEDGER_TEST_SECRET = "do not tell";
    try {
      const host = await open();
      const reader = say(host, long, AbortSignal.timeout(20_000))[Symbol.asyncIterator]();
      await reader.next();
      const helper = pidOf(host);
      for (const pid of [helper, ...childrenOf(helper).map((child) => child.pid)]) {
        const names = readFileSync(`/proc/${pid}/environ`, "utf8")
          .split("\0")
          .map((line) => line.split("=")[0])
          .filter((name) => name && !name.startsWith("NODE_CHANNEL_"));
        const own = pid === helper ? ["MALLOC_ARENA_MAX"] : [];
        expect(names).to.have.members(["LANG", "PATH", ...own]);
      }
    } finally {
      delete process.env.VOXLEDGER_TEST_SECRET;
    }
  });

  it("kills the tool when the signal is aborted, and throws the signal's reason", async () => {
    const host = await open();
    for (const begin of [say, flite]) {
      const stop = new AbortController();
      const reason = new Error("nobody wants it");
      const reading = rejection(collect(begin(host, long, stop.signal)));
      await until("the tool runs", () => childrenOf(pidOf(host)).length === 1);
      const [tool] = childrenOf(pidOf(host));
      stop.abort(reason);
      expect(await reading).to.equal(reason);
      await gone(tool?.pid ?? 0);
    }
  });

  it("kills the tool when its reader leaves", async () => {
    const host = await open();
    for await (const _ of say(host, long)) break;
    await until("the slot is free again", () => host.stats().running === 0);
    expect(childrenOf(pidOf(host))).to.deep.equal([]);
  });

  it("kills a tool that is not done by its deadline", async () => {
    const host = await open();
    for (const begin of [say, flite]) {
      expect(await reasonOf(collect(begin(host, long, never, { deadlineMs: 100 })))).to.equal("deadline");
      expect(childrenOf(pidOf(host))).to.deep.equal([]);
    }
  });

  it("holds the deadline against a slow reader as well", async () => {
    const host = await open();
    const reader = say(host, long, never, { deadlineMs: 100 })[Symbol.asyncIterator]();
    const readSlowly = async () => {
      await reader.next(); // on a busy machine the deadline may pass before the first byte
      await until("the tool is gone", () => childrenOf(pidOf(host)).length === 0);
      while (!(await reader.next()).done);
    };
    expect(await reasonOf(readSlowly())).to.equal("deadline");
  });

  it("kills a tool that gives more than it may", async () => {
    const host = await open();
    for (const begin of [say, flite]) {
      expect(await reasonOf(collect(begin(host, long, never, { maxOutputBytes: 100_000 })))).to.equal(
        "flood",
      );
      expect(childrenOf(pidOf(host))).to.deep.equal([]);
    }
  });

  it("never ends well without a byte", async () => {
    expect(await reasonOf(sayWhole(await open(), ""))).to.equal("silent");
  });

  it("says why a tool failed in the tool's own words, with no path in them", async () => {
    const host = await open();
    const bad = {
      tool: "espeak-ng",
      args: ["-v", "no/such", ...speak],
      output: "pipe",
      input: "hi",
    } as const;
    const failure = (await rejection(collect(host.run(bad, never)))) as ToolFailed;
    expect(failure.reason).to.equal("exit");
    expect(failure.message).to.match(/^espeak-ng failed: .*voice does not exist/);
    const path = {
      tool: "espeak-ng",
      args: ["-f", "/no/such/file", "--stdout"],
      output: "pipe",
      input: "",
    } as const;
    expect(((await rejection(collect(host.run(path, never)))) as ToolFailed).message).to.not.contain("/no");
  });

  it("says which tool is not installed", async () => {
    expect(await reasonOf(sayWhole(await open({ path: "/nonexistent" }), "hi"))).to.equal("missing");
  });

  it("runs no more at once than it may, and the others in turn", async () => {
    const host = await open({ concurrency: 3 });
    let most = 0;
    const jobs = Array.from({ length: 20 }, async () => {
      for await (const _ of say(host, "One, two, three."))
        most = Math.max(most, toolsOf(host, "espeak-ng").length);
    });
    await until("they have begun", () => host.stats().running === 3);
    expect(host.stats()).to.include({ running: 3, queued: 17 });
    await Promise.all(jobs);
    expect(most).to.be.within(1, 3);
    await until("every slot is free again", () => host.stats().running === 0);
  });

  it("refuses what its queue has no room for, and forgets who leaves the queue", async () => {
    const host = await open({ concurrency: 1, queueLimit: 1 });
    const stop = new AbortController();
    const leave = new AbortController();
    const first = rejection(collect(say(host, long, stop.signal)));
    await until("it runs", () => host.stats().running === 1);
    const second = rejection(collect(say(host, "two", leave.signal)));
    await until("it waits", () => host.stats().queued === 1);
    expect(await rejection(collect(say(host, "three")))).to.be.instanceOf(Unavailable);
    leave.abort(new Error("left"));
    expect(((await second) as Error).message).to.equal("left");
    expect(host.stats().queued).to.equal(0);
    stop.abort(new Error("stopped"));
    await first;
    expect((await sayWhole(host, "four")).length).to.be.above(44);
  });

  it("fails what is in flight when the helper is killed, and has a new one for the next job", async () => {
    const host = await open();
    const before = await sayWhole(host, "One, two, three.");
    const reading = Promise.all([reasonOf(collect(say(host, long))), reasonOf(collect(flite(host, long)))]);
    await until("they run", () => childrenOf(pidOf(host)).length === 2);
    const tools = childrenOf(pidOf(host)).map(({ pid }) => pid);
    process.kill(pidOf(host), "SIGKILL");
    expect(await reading).to.deep.equal(["helper", "helper"]);
    await gone(...tools);
    expect(host.stats()).to.include({ running: 0, restarts: 0 });
    expect(before.equals(await sayWhole(host, "One, two, three."))).to.equal(true);
    expect(host.stats().restarts).to.equal(1);
  });

  it("tells the log of each helper that ended by itself, and not of one that was closed", async () => {
    const told: string[] = [];
    const host = await open({ warn: (sentence) => told.push(sentence) });
    process.kill(pidOf(host), "SIGKILL");
    await until("it is told", () => told.length === 1);
    await sayWhole(host, "One.");
    await host.close();
    expect(told).to.have.lengthOf(1);
  });

  it("says of a tool that somebody else killed that it was killed", async () => {
    const host = await open();
    for (const begin of [say, flite]) {
      const reading = reasonOf(collect(begin(host, long)));
      await until("the tool runs", () => childrenOf(pidOf(host)).length === 1);
      process.kill(childrenOf(pidOf(host))[0]?.pid ?? 0, "SIGKILL");
      expect(await reading).to.equal("killed");
    }
  });

  it("lets no job wait for its turn for longer than the bound, and its deadline begin with its turn", async () => {
    const host = await open({ concurrency: 1, queueTimeoutMs: 30 });
    const stop = new AbortController();
    const first = rejection(collect(say(host, long, stop.signal)));
    await until("it runs", () => host.stats().running === 1);
    expect(await rejection(collect(say(host, "two", never, { deadlineMs: 1 })))).to.be.instanceOf(
      Unavailable,
    );
    expect(host.stats().queued).to.equal(0);
    stop.abort(new Error("stopped"));
    await first;
    await until("the slot is free again", () => host.stats().running === 0);
    expect((await sayWhole(host, "three")).length).to.be.above(44);
  });

  describe("when the helper stands still", () => {
    it("says so when it is asked, and that it is well when it goes on", async () => {
      const host = await open();
      await pong(host);
      process.kill(pidOf(host), "SIGSTOP");
      expect(((await rejection(host.ping())) as ToolFailed).reason).to.equal("helper");
      process.kill(pidOf(host), "SIGCONT");
      await pong(host);
    });

    it("ends it when it holds a job beyond its deadline, and has a new one", async () => {
      const host = await open({ graceMs: 100 });
      const reading = reasonOf(collect(say(host, long, never, { deadlineMs: 2000 })));
      await until("the tool runs", () => childrenOf(pidOf(host)).length === 1);
      const old = [pidOf(host), ...childrenOf(pidOf(host)).map(({ pid }) => pid)];
      process.kill(pidOf(host), "SIGSTOP");
      expect(await reading).to.equal("helper");
      await gone(...old);
      expect((await sayWhole(host, "One.")).length).to.be.above(44);
    });
  });

  it("answers a ping after the helper's death, by one new helper", async () => {
    const host = await open();
    const pid = pidOf(host);
    process.kill(pid, "SIGKILL");
    await until("the host has noticed", () => host.stats().pid !== pid);
    await pong(host);
    expect(host.stats().restarts).to.equal(1);
  });

  it("leaves no process when its owner is killed", async () => {
    const owner = fork(new URL("./host-owner.ts", import.meta.url));
    const [{ pid }] = (await once(owner, "message")) as [{ pid: number }];
    await until("all have begun", () => childrenOf(pid).length === 5);
    const all = [pid, ...childrenOf(pid).map((child) => child.pid)];
    owner.kill("SIGKILL");
    await gone(...all);
  });

  it("lets its owner end by itself once it is closed", async () => {
    const [code] = await once(fork(new URL("./host-owner.ts", import.meta.url), ["close"]), "exit");
    expect(code).to.equal(0);
  });

  it("ends everything when it is closed", async () => {
    const host = await open({ encodersAhead: { mp3: 1, ogg: 1 } });
    const reading = rejection(collect(say(host, long)));
    await until("all have begun", () => childrenOf(pidOf(host)).length === 3);
    const all = [pidOf(host), ...childrenOf(pidOf(host)).map(({ pid }) => pid)];
    await host.close();
    expect(await reading).to.be.instanceOf(Unavailable);
    await gone(...all);
    expect(await rejection(sayWhole(host, "hi"))).to.be.instanceOf(Unavailable);
    await host.close();
  });

  it("leaves no file behind, not even while flite writes one", async () => {
    const host = await open();
    const mine = () => readdirSync("/dev/shm").filter((name) => name.startsWith("voxledger-"));
    const reading = rejection(collect(flite(host, long)));
    await until("flite runs", () => toolsOf(host, "flite").length === 1);
    expect(mine()).to.deep.equal([]);
    process.kill(pidOf(host), "SIGKILL");
    await reading;
  });

  it("is not ended by the terminal's Ctrl-C: its owner decides", async () => {
    const host = await open();
    const session = (pid: number | "self") =>
      readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ")[3];
    expect(session(pidOf(host))).to.not.equal(session("self"));
    expect(isRunning(pidOf(host))).to.equal(true);
  });
});
