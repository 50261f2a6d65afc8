import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import type { SpeechEvent } from "../../src/subprocess/espeak.ts";
import { createFrameReader, frameKinds } from "../../src/subprocess/host/frames.ts";
import type { ModelJob } from "../../src/subprocess/jobs.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { collect } from "../support/collect.ts";
import { naturalJob, naturalVoiceNames } from "../support/natural-requests.ts";
import { childrenOf, gone, pollTimeoutMs, until } from "../support/processes.ts";
import { rejection } from "../support/rejection.ts";
import { openToolHost } from "../support/tool-host.ts";

const never = new AbortController().signal;
const texts: readonly string[] = [
  "The birch canoe slid on the smooth planks.",
  "Dr. Smith paid $1,250.75 on 3 March; didn't he?",
  "Zyzzyva, quokka, and one more.",
];
const [sentence = ""] = texts;
/** Takes many seconds to speak. */
const long = `${sentence} `.repeat(100);

const digestOf = (audio: Iterable<Buffer>): string => {
  const hash = createHash("sha256");
  for (const chunk of audio) hash.update(chunk);
  return hash.digest("hex");
};

for (const voiceName of naturalVoiceNames) {
  describe(`The processes of ${voiceName}`, () => {
    let job: ModelJob;
    let host: SubprocessHost;
    before(async function () {
      const found = await naturalJob(voiceName);
      if (!found) return this.skip(); // scripts/natural-voices installs it
      job = found;
    });
    beforeEach(async () => {
      host = await openToolHost({ speakers: 0 });
    });
    afterEach(() => host.close());

    const jobOf = (text: string): ModelJob => ({
      ...job,
      request: { ...job.request, text },
      deadlineMs: pollTimeoutMs,
    });
    const speak = async (text: string): Promise<string> =>
      digestOf(await collect(host.speakByModel(jobOf(text), never)));
    const pids = (): number[] => childrenOf(host.stats().pid ?? 0).map(({ pid }) => pid);
    const isIdle = (): Promise<void> => until("no text is spoken", () => host.stats().running === 0);

    /** Speaks in a process of its own, which this command of Node runs. */
    const speakAlone = async (node: readonly string[]): Promise<readonly string[]> => {
      const { program, start } = job.model;
      const path = fileURLToPath(
        new URL(`../../src/subprocess/host/models/${program}/speaker.ts`, import.meta.url),
      );
      const [command = "", ...args] = [...node, "--disable-warning=ExperimentalWarning", path];
      const child = spawn(command, [...args, JSON.stringify(start)], { stdio: ["pipe", "pipe", "inherit"] });
      for (const text of texts) child.stdin.write(`${JSON.stringify(jobOf(text).request)}\n`);
      const digests: string[] = [];
      const read = createFrameReader();
      let parts: Buffer[] = [];
      for await (const chunk of child.stdout) {
        for (const { kind, content } of read(chunk)) {
          if (kind === frameKinds.wav) parts.push(Buffer.from(content));
          else if (kind !== frameKinds.ready) {
            digests.push(kind === frameKinds.done ? digestOf(parts) : content.toString());
            parts = [];
            if (digests.length === texts.length) child.stdin.end();
          }
        }
      }
      if (child.exitCode === null) await once(child, "exit");
      return digests;
    };

    it("speak the same bytes whatever the limits of memory, the number of cores and the compilers of Node are", async () => {
      const expected = await speakAlone([process.execPath]);
      expect(new Set(expected)).to.have.lengthOf(texts.length);
      for (const node of [
        [process.execPath, "--max-old-space-size=48", "--max-semi-space-size=1"],
        [process.execPath, "--max-old-space-size=1024", "--single-threaded"],
        ["taskset", "-c", "0", process.execPath],
        [process.execPath, "--liftoff-only"],
        [process.execPath, "--no-liftoff"],
        [process.execPath, "--no-opt", "--no-maglev"],
      ]) {
        expect(await speakAlone(node), node.join(" ")).to.deep.equal(expected);
      }
    });

    it("speak the same bytes on another kind of processor", async function () {
      const { OTHER_NODE: node } = process.env; // scripts/arm64-node prints one
      if (node === undefined) return this.skip();
      this.timeout(0); // an emulator takes minutes
      expect(await speakAlone([node])).to.deep.equal(await speakAlone([process.execPath]));
    });

    it("go on after an abort in the middle of a text, and speak the bytes of a new process", async () => {
      const fresh = await speak(sentence);
      const before = pids();
      expect(before).to.have.lengthOf(1);
      for (let round = 0; round < 3; round++) {
        const left = new AbortController();
        const speech = host.speakByModel(jobOf(long), left.signal)[Symbol.asyncIterator]();
        await speech.next();
        left.abort(new Error("The client has left."));
        expect(await rejection(speech.next())).to.have.property("message", "The client has left.");
        await isIdle();
        expect(await speak(sentence)).to.equal(fresh);
      }
      expect(pids()).to.deep.equal(before);
    });

    it("go on after an abort before they have begun to speak", async () => {
      const fresh = await speak(sentence);
      const before = pids();
      const left = new AbortController();
      const speech = host.speakByModel(jobOf(long), left.signal)[Symbol.asyncIterator]();
      const first = rejection(speech.next());
      await until("the text is given to the process", () => host.stats().running > 0);
      left.abort(new Error("The client has left."));
      await first;
      await isIdle();
      expect(await speak(sentence)).to.equal(fresh);
      expect(pids()).to.deep.equal(before);
    });

    it("speak a text with Unicode's line separators, and with the line of a cancellation between them", async () => {
      const alone = await speak("One, two.");
      const before = pids();
      const text = "One, two.\u2028cancel\u2028Three\u2029cancel\u2029four.";
      const spoken = await speak(text);
      expect(spoken).to.not.equal(alone);
      expect(await speak(text)).to.equal(spoken);
      expect(await speak("One, two.")).to.equal(alone);
      expect(pids()).to.deep.equal(before);
    });

    it("report the same events after an abort", async () => {
      const eventsOf = async (): Promise<readonly SpeechEvent[]> => {
        const { promise, resolve } = Promise.withResolvers<readonly SpeechEvent[]>();
        await collect(host.speakByModel({ ...jobOf(sentence), onEvents: resolve }, never));
        return promise;
      };
      const expected = await eventsOf();
      const left = new AbortController();
      const speech = host.speakByModel(jobOf(long), left.signal)[Symbol.asyncIterator]();
      await speech.next();
      left.abort();
      await rejection(speech.next());
      await isIdle();
      expect(await eventsOf()).to.deep.equal(expected);
    });

    it("are replaced when one is killed in the middle of a text", async () => {
      const fresh = await speak(sentence);
      const [pid = 0] = pids();
      const speech = host.speakByModel(jobOf(long), never)[Symbol.asyncIterator]();
      await speech.next();
      process.kill(pid, "SIGKILL");
      const failure = await rejection(
        (async () => {
          while (!(await speech.next()).done);
        })(),
      );
      expect(failure).to.have.property("reason", "killed");
      expect(await speak(sentence)).to.equal(fresh);
      expect(pids()).to.have.lengthOf(1).and.not.to.include(pid);
    });

    it("are replaced when one fails at a text", async () => {
      const fresh = await speak(sentence);
      const before = pids();
      const failing = { ...jobOf(sentence), request: { ...job.request, text: 1 } };
      expect(await rejection(collect(host.speakByModel(failing, never)))).to.have.property("reason", "exit");
      await gone(...before);
      expect(await speak(sentence)).to.equal(fresh);
    });

    it("are replaced when one hangs until the deadline of its text", async () => {
      const fresh = await speak(sentence);
      const [pid = 0] = pids();
      process.kill(pid, "SIGSTOP");
      const overdue = { ...jobOf(sentence), deadlineMs: 200 };
      expect(await rejection(collect(host.speakByModel(overdue, never)))).to.have.property(
        "reason",
        "deadline",
      );
      await gone(pid);
      expect(await speak(sentence)).to.equal(fresh);
    });
  });
}
