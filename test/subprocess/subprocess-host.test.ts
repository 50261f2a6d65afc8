import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readlinkSync } from "node:fs";
import { expect } from "chai";
import { createWaiter } from "../../src/async/scheduler/waiter.ts";
import { Unavailable } from "../../src/domain/errors.ts";
import type { ProcessEnd } from "../../src/domain/process-end.ts";
import { unknownSize, wavHeader } from "../../src/domain/synthesis/wav-header.ts";
import type { SubprocessHost, SubprocessHostOptions } from "../../src/subprocess/subprocess-host.ts";
import { type HostSupervisor, superviseHostProcess } from "../../src/subprocess/supervisor.ts";
import { ToolFailed } from "../../src/subprocess/tools.ts";
import { collect } from "../support/collect.ts";
import { encodeSilence } from "../support/encode-silence.ts";
import { placeFakeTools } from "../support/fake-tools.ts";
import { childrenOf, gone, isRunning, signal, until } from "../support/processes.ts";
import { rejection } from "../support/rejection.ts";
import { openToolHost } from "../support/tool-host.ts";

const never = new AbortController().signal;
const speak = ["--stdin", "--stdout"];
/** espeak-ng needs seconds for it, and its output exceeds a pipe's buffer. */
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

/** The timeout of a ping is shorter than a process start on a busy machine. */
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
    const host = await openToolHost({ speakers: 0, ...options });
    opened.push(host);
    return host;
  };
  afterEach(() => Promise.all(opened.splice(0).map((host) => host.close())));

  it("reports the versions of the installed tools", async () => {
    const { versions } = await open();
    expect(versions).to.have.all.keys("espeak-ng", "flite", "ffmpeg");
    expect((await open({ path: "/nonexistent" })).versions).to.deep.equal({});
  });

  it("delivers a long output complete and in order to a slow reader", async () => {
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

  it("applies backpressure to a tool whose output is not read", async () => {
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

  it("gives the tools a minimal environment without the service's secrets", async () => {
    process.env.VOXLEDGER_TEST_SECRET = "secret";
    const allocator = process.env.MALLOC_ARENA_MAX;
    process.env.MALLOC_ARENA_MAX = "2";
    try {
      const host = await open();
      const reader = say(host, long)[Symbol.asyncIterator]();
      await reader.next();
      const helper = pidOf(host);
      for (const pid of [helper, ...childrenOf(helper).map((child) => child.pid)]) {
        const names = readFileSync(`/proc/${pid}/environ`, "utf8")
          .split("\0")
          .map((line) => line.split("=")[0])
          .filter((name) => name && !name.startsWith("NODE_CHANNEL_"));
        const own = pid === helper ? ["MALLOC_ARENA_MAX", "NODE_COMPILE_CACHE"] : [];
        expect(names).to.have.members(["LANG", "PATH", ...own]);
      }
    } finally {
      delete process.env.VOXLEDGER_TEST_SECRET;
      if (allocator === undefined) delete process.env.MALLOC_ARENA_MAX;
      else process.env.MALLOC_ARENA_MAX = allocator;
    }
  });

  it("kills the tool when the signal is aborted, and throws the signal's reason", async () => {
    const host = await open();
    for (const begin of [say, flite]) {
      const stop = new AbortController();
      const reason = new Error("the caller left");
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

  it("kills a tool that exceeds its deadline", async () => {
    const host = await open();
    for (const begin of [say, flite]) {
      expect(await reasonOf(collect(begin(host, long, never, { deadlineMs: 100 })))).to.equal("deadline");
      expect(childrenOf(pidOf(host))).to.deep.equal([]);
    }
  });

  it("enforces the deadline and frees the slot although the output is not read", async () => {
    const host = await open();
    const reader = say(host, long, never, { deadlineMs: 100 })[Symbol.asyncIterator]();
    const readSlowly = async () => {
      await reader.next(); // on a busy machine the deadline may pass before the first byte
      await until("the tool is gone", () => childrenOf(pidOf(host)).length === 0);
      await until("the slot is free", () => host.stats().running === 0);
      while (!(await reader.next()).done);
    };
    expect(await reasonOf(readSlowly())).to.equal("deadline");
  });

  it("kills a tool that exceeds its output limit", async () => {
    const host = await open();
    for (const begin of [say, flite]) {
      expect(await reasonOf(collect(begin(host, long, never, { maxOutputBytes: 100_000 })))).to.equal(
        "flood",
      );
      expect(childrenOf(pidOf(host))).to.deep.equal([]);
    }
  });

  it("fails when a tool exits without output", async () => {
    expect(await reasonOf(sayWhole(await open(), ""))).to.equal("silent");
  });

  it("reports a failed tool's own message, without paths", async () => {
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
    expect(failure.end).to.deep.equal({ exitCode: 1 });
    const path = {
      tool: "espeak-ng",
      args: ["-f", "/no/such/file", "--stdout"],
      output: "pipe",
      input: "",
    } as const;
    expect(((await rejection(collect(host.run(path, never)))) as ToolFailed).message).to.not.contain("/no");
  });

  it("names a tool that is not installed", async () => {
    expect(await reasonOf(sayWhole(await open({ path: "/nonexistent" }), "hi"))).to.equal("missing");
  });

  it("runs jobs up to its concurrency limit, and queues the others", async () => {
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

  it("rejects jobs when its queue is full, and removes aborted jobs from the queue", async () => {
    const host = await open({ concurrency: 1, queue: { queueLimit: 1 } });
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

  describe("reserves an encoder", () => {
    const longResponse = () => createWaiter("a key", 400);
    const taken = (host: SubprocessHost) => host.stats().running;

    it("for a long response, which holds it until it is released", async () => {
      const host = await open({ concurrency: 1 });
      const first = await host.reserveEncoder(never, longResponse());
      const second = host.reserveEncoder(never, longResponse());
      await until("the key has no further slot", () => host.stats().queued === 1);
      first?.release();
      (await second)?.release();
      expect(taken(host)).to.equal(0);
    });

    it("for no short response", async () => {
      const host = await open({ concurrency: 1 });
      expect(await host.reserveEncoder(never, createWaiter("a key", 3))).to.equal(undefined);
      expect(await host.reserveEncoder(never)).to.equal(undefined);
    });

    it("that short responses of the same key need not wait for", async () => {
      const host = await open({ concurrency: 1 });
      const held = await host.reserveEncoder(never, longResponse());
      const leaving = new AbortController();
      const waiting = rejection(host.reserveEncoder(leaving.signal, longResponse()));
      const input = (async function* () {
        yield wavHeader(22_050, unknownSize);
        yield Buffer.alloc(10_000, 7);
      })();
      const job = { format: "mp3", sampleRate: 22_050, input } as const;
      const short = { waiter: createWaiter("a key", 3), isContinuation: true };
      expect(await collect(host.encode(job, never, short))).to.not.be.empty;
      expect(host.stats().queued).to.equal(1);
      leaving.abort(new Error("the caller has left"));
      await waiting;
      held?.release();
    });

    it("not for short responses, of which one key cannot take all encoders", async () => {
      const host = await open({ concurrency: 1 });
      const leaving = new AbortController();
      const encodeFor = (key: string, signal: AbortSignal, samples?: AsyncIterable<Buffer>) => {
        const input = (async function* () {
          yield wavHeader(22_050, unknownSize);
          yield Buffer.alloc(10_000, 7);
          if (samples) yield* samples;
        })();
        const slotOptions = { waiter: createWaiter(key, 3), isContinuation: true };
        return collect(host.encode({ format: "mp3", sampleRate: 22_050, input }, signal, slotOptions));
      };
      const silence = async function* (): AsyncGenerator<Buffer> {
        await new Promise(() => {});
      };
      const held = [1, 2].map(() => rejection(encodeFor("a key", leaving.signal, silence())));
      await until("one runs and one waits", () => host.stats().running === 1 && host.stats().queued === 1);
      expect(await encodeFor("another key", never)).to.not.be.empty;
      leaving.abort(new Error("the caller has left"));
      await Promise.all(held);
    });

    it("for the job that takes it, which releases it at its end", async () => {
      const host = await open({ concurrency: 1 });
      const waiter = longResponse();
      const slot = await host.reserveEncoder(never, waiter);
      const input = (async function* () {
        yield wavHeader(22_050, unknownSize);
        yield Buffer.alloc(10_000, 7);
      })();
      const job = { format: "mp3", sampleRate: 22_050, input } as const;
      const chunks = host.encode(job, never, { waiter, isContinuation: true }, slot)[Symbol.asyncIterator]();
      expect((await chunks.next()).done).to.equal(false);
      slot?.release();
      expect(taken(host)).to.equal(1);
      while (!(await chunks.next()).done);
      await until("the slot is free", () => taken(host) === 0);
    });

    it("until the response is aborted", async () => {
      const host = await open({ concurrency: 1 });
      const slot = await host.reserveEncoder(never, longResponse());
      const leaving = new AbortController();
      const refused = rejection(host.reserveEncoder(leaving.signal, longResponse()));
      leaving.abort(new Error("the caller has left"));
      expect(await refused).to.have.property("message", "the caller has left");
      slot?.release();
      expect(host.stats()).to.include({ running: 0, queued: 0 });
    });
  });

  it("fails the jobs in flight when the helper is killed, and starts a new helper for the next job", async () => {
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

  it("starts no helper while a tool cannot report its version, and says so", async () => {
    const response = "echo 'eSpeak NG text-to-speech: 1.51'";
    const tools = await placeFakeTools();
    try {
      await tools.place("espeak-ng", "kill -9 $$");
      const refused = await rejection(open({ path: tools.directory }));
      expect(refused).to.have.property("message").that.includes("espeak-ng did not report its version");

      await tools.place("espeak-ng", response);
      const warnings: string[] = [];
      const host = await open({ path: tools.directory, warn: (sentence) => warnings.push(sentence) });
      await tools.place("espeak-ng", "kill -9 $$");
      process.kill(pidOf(host), "SIGKILL");
      await until("the host has noticed", () => warnings.length === 1);
      expect(await reasonOf(sayWhole(host, "One."))).to.equal("helper");
      expect(warnings[1]).to.include("espeak-ng did not report its version");

      await tools.place("espeak-ng", response);
      expect((await sayWhole(host, "One.")).toString()).to.include("1.51");
    } finally {
      await tools.remove();
    }
  });

  it("logs how each helper ended that exits unexpectedly, but not one that was closed", async () => {
    const ends: ProcessEnd[] = [];
    const host = await open({ warn: (_, end) => ends.push(end) });
    process.kill(pidOf(host), "SIGKILL");
    await until("the warning", () => ends.length === 1);
    await sayWhole(host, "One.");
    await host.close();
    expect(ends).to.deep.equal([{ signal: "SIGKILL" }]);
  });

  it("reports a tool that was killed from outside as killed", async () => {
    const host = await open();
    for (const begin of [say, flite]) {
      const reading = rejection(collect(begin(host, long)));
      await until("the tool runs", () => childrenOf(pidOf(host)).length === 1);
      signal(childrenOf(pidOf(host))[0]?.pid, "SIGKILL");
      expect(await reading).to.deep.include({ reason: "killed", end: { signal: "SIGKILL" } });
    }
  });

  it("bounds the time in the queue, and starts a job's deadline with the job", async () => {
    const host = await open({ concurrency: 1, queue: { queueTimeoutMs: 30 } });
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

  describe("when the helper hangs", () => {
    it("fails a ping, and responds to one after the helper resumes", async () => {
      const host = await open();
      await pong(host);
      process.kill(pidOf(host), "SIGSTOP");
      expect(((await rejection(host.ping())) as ToolFailed).reason).to.equal("helper");
      process.kill(pidOf(host), "SIGCONT");
      await pong(host);
    });

    it("kills a helper that holds a job beyond its deadline, and starts a new one", async () => {
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

  it("responds to a ping after the helper's death with a new helper", async () => {
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
    await until("all have begun", () => childrenOf(pid).length === 3); // flite, an encoder and a speaker
    const all = [pid, ...childrenOf(pid).map((child) => child.pid)];
    owner.kill("SIGKILL");
    await gone(...all);
  });

  it("lets its owner exit after close", async () => {
    const [code] = await once(fork(new URL("./host-owner.ts", import.meta.url), ["close"]), "exit");
    expect(code).to.equal(0);
  });

  it("ends all processes on close", async () => {
    const host = await open({ encodersAhead: { mp3: 1, ogg: 1 } });
    for (const format of ["mp3", "ogg"] as const) await encodeSilence(host, format);
    const reading = rejection(collect(say(host, long)));
    await until("all have begun", () => childrenOf(pidOf(host)).length === 3);
    const all = [pidOf(host), ...childrenOf(pidOf(host)).map(({ pid }) => pid)];
    await host.close();
    expect(await reading).to.be.instanceOf(Unavailable);
    await gone(...all);
    expect(await rejection(sayWhole(host, "hi"))).to.be.instanceOf(Unavailable);
    await host.close();
  });

  it("ends its own jobs on close, and no others, if it shares a helper", async () => {
    let helper: HostSupervisor | undefined;
    const superviseHelper: typeof superviseHostProcess = (...given) => {
      helper ??= superviseHostProcess(...given);
      return { ...helper, close: async () => undefined };
    };
    const [closed, other] = [await open({ superviseHelper }), await open({ superviseHelper })];
    expect(pidOf(closed)).to.equal(pidOf(other));
    const reading = rejection(collect(say(closed, long)));
    await until("it has begun", () => toolsOf(closed, "espeak-ng").length === 1);
    const [tool] = toolsOf(closed, "espeak-ng");
    await closed.close();
    expect(await reading).to.be.instanceOf(Unavailable);
    await gone(tool?.pid ?? 0);
    expect(await rejection(sayWhole(closed, "hi"))).to.be.instanceOf(Unavailable);
    expect((await sayWhole(other, "hi")).length).to.be.above(0);
    await helper?.close();
  });

  it("leaves no file behind, not even while flite writes one", async () => {
    const host = await open();
    const reading = rejection(collect(flite(host, long)));
    await until("flite runs", () => toolsOf(host, "flite").length === 1);
    const [tool] = toolsOf(host, "flite");
    expect(readlinkSync(`/proc/${tool?.pid}/fd/1`)).to.match(/\/voxledger-[0-9a-f-]+ \(deleted\)$/);
    process.kill(pidOf(host), "SIGKILL");
    await reading;
  });

  it("ignores the terminal's Ctrl-C: its owner decides", async () => {
    const host = await open();
    const session = (pid: number | "self") =>
      readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ")[3];
    expect(session(pidOf(host))).to.not.equal(session("self"));
    expect(isRunning(pidOf(host))).to.equal(true);
  });
});
