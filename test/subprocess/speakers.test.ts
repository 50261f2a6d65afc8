import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { getPriority } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createWaiter } from "../../src/async/scheduler/waiter.ts";
import type { SpeechEvent } from "../../src/subprocess/espeak.ts";
import type { EspeakJob } from "../../src/subprocess/jobs.ts";
import type { SlotOptions } from "../../src/subprocess/run-in-slot.ts";
import { singlePieceJob } from "../../src/subprocess/speech/speech-job.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { ToolFailed } from "../../src/subprocess/tools.ts";
import { collect } from "../support/collect.ts";
import { descendantsOf, gone, until } from "../support/processes.ts";
import { rejection } from "../support/rejection.ts";
import { openToolHost } from "../support/tool-host.ts";

const never = new AbortController().signal;
const plain = { rate: 175, pitch: 50, volume: 100, ssml: false } as const;
const jobOf = (input: string, changes: Partial<EspeakJob> = {}): EspeakJob => ({
  voice: "gmw/en-US",
  ...plain,
  input,
  ...changes,
});
/** More samples than pipes and windows hold. */
const long = "A long word. ".repeat(3_000);

const jobs: readonly EspeakJob[] = [
  jobOf("Hello world, it's 12,345 tests. Dr. Smith said: no!"),
  jobOf("L'été où j'ai vu l'île, en 1999.", { voice: "roa/fr+f2", rate: 350 }),
  jobOf("One, two, three.", { voice: "gmw/en-US+klatt2", pitch: 99 }),
  jobOf("Привет, мир!", { voice: "zle/ru+whisper", volume: 4 }),
  jobOf("你好,世界。", { voice: "sit/cmn" }),
  jobOf("Hello again.", { voice: "gmw/en+f3", rate: 80 }),
  jobOf("<speak>One <break time='200ms'/><prosody pitch='+3st'>two</prosody></speak>", { ssml: true }),
  jobOf("One, two, three.", { voice: "gmw/en-US+klatt4", pitch: 0 }),
];

describe("espeak-ng's library", () => {
  let library: SubprocessHost;
  let command: SubprocessHost;
  before(async () => {
    [library, command] = await Promise.all([openToolHost({ speakers: 2 }), openToolHost({ speakers: 0 })]);
  });
  after(() => Promise.all([library.close(), command.close()]));

  const speak = async (host: SubprocessHost, job: EspeakJob, slotOptions?: SlotOptions): Promise<string> =>
    createHash("sha256")
      .update(Buffer.concat(await collect(host.speak(job, never, slotOptions))))
      .digest("hex");
  const speakersOf = (host: SubprocessHost): number[] =>
    descendantsOf(host.stats().pid ?? 0).map(({ pid }) => pid);

  it("is used where it is installed", () => {
    expect([library.espeak, command.espeak]).to.deep.equal(["library", "command"]);
  });

  it("makes the bytes of the command line, whatever was spoken before", async () => {
    const expected = new Map<EspeakJob, string>();
    for (const job of jobs) expected.set(job, await speak(command, job));
    const mixed = Array.from({ length: 6 }, (_, round) =>
      jobs.map((_, at) => jobs[(at * 3 + round) % jobs.length]),
    ).flat();
    const spoken = await Promise.all(
      mixed.map(async (job) => job && (await speak(library, job)) === expected.get(job)),
    );
    expect(spoken).to.have.lengthOf(6 * jobs.length);
    expect(spoken).to.not.include(false);
  });

  it("makes the same bytes again where it reads parts of its stack that it has not written", async () => {
    for (const job of [jobOf("😀😁😂🤣😃😄", { voice: "inc/hi" }), jobOf(",#.(,.,*", { voice: "trk/ky" })]) {
      const spoken = new Set<string>();
      for (const before of jobs) {
        await Promise.all([speak(library, before), speak(library, before)]);
        spoken.add(await speak(library, job));
      }
      expect(spoken.size, job.input).to.equal(1);
    }
  });

  it("speaks each word with one language to its end, whose memory the library frees and reuses before", async () => {
    const words = [jobOf("਒", { voice: "trk/kk+f2" }), jobOf("9៚❵៮俫ڴտ಩곈", { voice: "urj/fi+klatt2" })];
    const [first, second] = await Promise.all([openToolHost({ speakers: 1 }), openToolHost({ speakers: 1 })]);
    const spoken = new Set<string>();
    try {
      for (const word of words) spoken.add(await speak(first, word));
      for (let round = 0; round < 3; round++) {
        for (const before of jobs) {
          await speak(second, before);
          for (const word of words) spoken.add(await speak(second, word));
        }
      }
    } finally {
      await Promise.all([first.close(), second.close()]);
    }
    expect(spoken).to.have.lengthOf(words.length);
  });

  it("reads brackets as text, which are phonemes for the command line", async () => {
    const [text, literal] = [jobOf("Say [[h@'loU]] now."), jobOf("Say [ [h@'loU]] now.")];
    expect(await speak(library, literal)).to.equal(await speak(command, literal));
    expect(await speak(library, text)).not.to.equal(await speak(command, text));
  });

  it("speaks many texts in one process, and in another when that one has grown", async () => {
    const host = await openToolHost({ speakers: 1 });
    try {
      const speakAt = async (n: number): Promise<number[]> => {
        await speak(host, jobOf(`Hello there, number ${n}.`));
        return speakersOf(host);
      };
      const first = await speakAt(1);
      for (let n = 2; n <= 20; n++) expect(await speakAt(n)).to.deep.equal(first);
      let current = first;
      for (let n = 21; current[0] === first[0]; n++) {
        expect(n, "texts of one process").to.be.below(2_000);
        current = await speakAt(n);
      }
    } finally {
      await host.close();
    }
  });

  it("speaks the first piece of a long text at once, in the process that is reserved for urgent texts", async () => {
    const host = await openToolHost({ speakers: 2 });
    try {
      const before = speakersOf(host);
      const { input, ...job } = jobOf("Hello there.");
      const piece = singlePieceJob({ ...job, type: "espeak", input });
      const waiter = createWaiter("key", 400);
      for await (const _ of host.synthesize(piece, never, { waiter }));
      expect(before).to.have.lengthOf(1);
      expect(speakersOf(host)).to.deep.equal(before);
    } finally {
      await host.close();
    }
  });

  it("reports where words and sentences begin, in the text and in the samples", async () => {
    let events: readonly SpeechEvent[] = [];
    const onEvents = (reported: readonly SpeechEvent[]) => {
      events = reported;
    };
    const wav = Buffer.concat(
      await collect(library.speak(jobOf("Hello wörld 😀. Next.", { onEvents }), never)),
    );
    expect(events.map(({ kind, position }) => [kind, position])).to.deep.include.members([
      ["sentence", 0],
      ["word", 0],
      ["word", 6],
      ["word", 12],
      ["sentence", 15],
      ["word", 15],
    ]);
    const samples = events.map(({ sample }) => sample);
    expect(samples).to.deep.equal(samples.toSorted((a, b) => a - b));
    expect(samples.at(-1)).to.be.within(1, (wav.length - 44) / 2);
  });

  it("speaks in at most as many processes as it may have", async () => {
    await Promise.all(Array.from({ length: 6 }, (_, at) => speak(library, jobOf(`Number ${at}.`))));
    expect(speakersOf(library)).to.have.lengthOf(2);
  });

  it("applies backpressure to a text whose samples are not read, and speaks the next one after an abort", async () => {
    const single = await openToolHost({ speakers: 1 });
    try {
      const stop = new AbortController();
      const reader = single.speak(jobOf(long), stop.signal)[Symbol.asyncIterator]();
      await reader.next();
      stop.abort(new Error("the caller left"));
      expect(await rejection(Promise.resolve(reader.next()))).to.have.property("message", "the caller left");
      expect(await speak(single, jobOf("Next."))).to.equal(await speak(command, jobOf("Next.")));
    } finally {
      await single.close();
    }
  });

  it("speaks a short text while long ones occupy all processes but the reserved one", async () => {
    const crowded = await openToolHost({ speakers: 3 });
    const stop = new AbortController();
    try {
      const slotOptions = { waiter: createWaiter("long", 300) };
      const readers = [1, 2, 3].map(() =>
        crowded.speak(jobOf(long), stop.signal, slotOptions)[Symbol.asyncIterator](),
      );
      // Their processes wait for a reader.
      await Promise.all(readers.slice(0, 2).map((reader) => reader.next()));
      const waiting = rejection(Promise.resolve(readers[2]?.next()));
      const short = { waiter: createWaiter("short", 3) };
      expect(await speak(crowded, jobOf("Next."), short)).to.equal(await speak(command, jobOf("Next.")));
      expect(speakersOf(crowded)).to.have.lengthOf(3);
      stop.abort(new Error("enough"));
      await waiting;
    } finally {
      await crowded.close();
    }
  });

  it("gives all processes but the reserved one a lower priority than the service", async () => {
    const crowded = await openToolHost({ speakers: 3 });
    try {
      const slotOptions = { waiter: createWaiter("long", 300) };
      await Promise.all([1, 2].map(() => speak(crowded, jobOf("Next."), slotOptions)));
      const own = getPriority();
      const priorities = speakersOf(crowded).map((pid) => getPriority(pid) - own);
      expect(priorities.toSorted((a, b) => a - b)).to.deep.equal([0, 5, 5]);
    } finally {
      await crowded.close();
    }
  });

  it("gives the session of the helper a lower priority than the service's, if the kernel has autogroups", async function () {
    const groupOf = (pid: number): Promise<string> => readFile(`/proc/${pid}/autogroup`, "utf8");
    const niceOf = async (pid: number): Promise<number> =>
      Number((await groupOf(pid)).match(/nice (-?\d+)/)?.[1] ?? getPriority(pid));
    // Without autogroups there is no priority of a session to check. The file of a session that was
    // never given a group is empty.
    if ((await groupOf(process.pid).catch(() => undefined)) === undefined) this.skip();
    const own = await niceOf(process.pid);
    expect(await niceOf(library.stats().pid ?? 0)).to.equal(Math.min(own + 5, 19));
  });

  it("reports the CPU time of each text, without the time in which its process was stopped", async () => {
    const single = await openToolHost({ speakers: 1 });
    try {
      let worked = 0;
      const onCpuTime = (cpuMs: number): void => {
        worked += cpuMs;
      };
      const reader = single
        .speak(jobOf("A long word. ".repeat(300)), never, { onCpuTime })
        [Symbol.asyncIterator]();
      await reader.next();
      const [speaker = 0] = speakersOf(single);
      process.kill(speaker, "SIGSTOP");
      await until("the process is stopped", () => statOf(speaker).state === "T");
      const stoppedAt = performance.now();
      await until(
        "that lasts longer than its work",
        () => performance.now() - stoppedAt > 5 * statOf(speaker).cpuMs,
      );
      process.kill(speaker, "SIGCONT");
      expect(worked).to.equal(0);
      while (!(await reader.next()).done);
      for (const input of ["Two.", "Three.", "Four."])
        await collect(single.speak(jobOf(input), never, { onCpuTime }));
      expect(worked).to.be.within(1, statOf(speaker).cpuMs);
    } finally {
      await single.close();
    }
  });

  it("kills a text that exceeds its deadline or its output limit", async () => {
    const late = await rejection(collect(library.speak(jobOf(long, { deadlineMs: 1 }), never)));
    expect((late as ToolFailed).reason).to.equal("deadline");
    const large = await rejection(collect(library.speak(jobOf(long, { maxOutputBytes: 10_000 }), never)));
    expect((large as ToolFailed).reason).to.equal("flood");
    expect(await speak(library, jobOf("Next."))).to.equal(await speak(command, jobOf("Next.")));
  });

  it("fails only the text whose process is killed, and replaces the process", async () => {
    const single = await openToolHost({ speakers: 1 });
    try {
      const reader = single.speak(jobOf(long), never)[Symbol.asyncIterator]();
      await reader.next();
      const [speaker = 0] = speakersOf(single);
      process.kill(speaker, "SIGKILL");
      const failure = await rejection(
        (async () => {
          while (!(await reader.next()).done);
        })(),
      );
      expect(failure).to.be.instanceOf(ToolFailed).with.property("reason", "killed");
      expect(await speak(single, jobOf("Next."))).to.equal(await speak(command, jobOf("Next.")));
      expect(speakersOf(single)).to.not.include(speaker);
    } finally {
      await single.close();
    }
  });

  it("fails for an unknown voice like the command line, and for an empty text it is silent", async () => {
    for (const host of [library, command]) {
      const failure = await rejection(collect(host.speak(jobOf("One.", { voice: "xx/none" }), never)));
      expect(failure).to.be.instanceOf(ToolFailed).with.property("reason", "exit");
    }
    for (const host of [library, command]) {
      expect(await rejection(speak(host, jobOf("")))).to.have.property("reason", "silent");
    }
  });

  it("leaves no process after close", async () => {
    const host = await openToolHost({ speakers: 1 });
    await until("the speaker runs", () => speakersOf(host).length === 1);
    const speakers = speakersOf(host);
    await host.close();
    await gone(...speakers);
  });

  it("ends its process without a signal when the input ends", async () => {
    const program = join(import.meta.dirname, "../../src/subprocess/host/espeak/speaker.ts");
    const ends = Array.from({ length: 8 }, async () => {
      const speaker = spawn(process.execPath, [program], { stdio: "ignore", env: {} });
      return await once(speaker, "exit"); // code and signal
    });
    for (const end of await Promise.all(ends)) expect(end).to.deep.equal([0, null]);
  });
});

/** CPU time in Linux's ticks of 10 ms, of which one may have begun for each of user and system. */
const statOf = (pid: number): { readonly state: string; readonly cpuMs: number } => {
  const [state = "", ...fields] = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return { state, cpuMs: 10 * (Number(fields[10]) + Number(fields[11]) + 2) };
};
