import { createHash } from "node:crypto";
import { copyFile, mkdtemp, readFile, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { NothingToSpeak, Unpronounceable } from "../../../src/domain/errors.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import type { SpeechRequest } from "../../../src/engines/engine.ts";
import { type Hibari, hibari } from "../../../src/engines/local/hibari.ts";
import { createModelStates } from "../../../src/engines/local/model-states.ts";
import {
  type InstalledVoice,
  naturalVoicesFolder,
  openNaturalVoices,
} from "../../../src/engines/natural-voices/natural-voices.ts";
import { onnxRuntime } from "../../../src/natural/onnx/session.ts";
import type { SubprocessHost } from "../../../src/subprocess/subprocess-host.ts";
import { childrenOf, gone, pollTimeoutMs, until } from "../../support/processes.ts";
import { rejection } from "../../support/rejection.ts";
import { speakByTool } from "../../support/speak-piece.ts";
import { randomOf } from "../../support/speech-fuzz.ts";
import { openToolHost } from "../../support/tool-host.ts";

const sentence = "The birch canoe slid on the smooth planks.";

describe("The tool hibari", () => {
  let installed: ReadonlyMap<string, InstalledVoice>;
  let host: SubprocessHost;
  let folder: string;

  before(async function () {
    ({ installed } = await openNaturalVoices(naturalVoicesFolder(undefined)));
    // `scripts/natural-voices` installs them.
    if (!installed.has("hibari:heart")) this.skip();
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "hibari-"));
    host = await openToolHost({ speakers: 0 });
  });
  afterEach(async () => {
    await host.close();
    await rm(folder, { recursive: true });
  });

  const toolWith = (voices = installed, deadlineMs = pollTimeoutMs): Hibari =>
    hibari({
      ...{ host, installed: voices, idleMs: 60_000, deadlineMs },
      states: createModelStates({ warn: () => {} }),
    });
  const requestOf = (text: string, prosody = normalProsody): SpeechRequest => ({
    ...{ text, ssml: false, voice: "heart", lang: "en-US", prosody, format: "wav" },
  });
  const speak = (tool: Hibari, request: SpeechRequest) => speakByTool(host, tool, request);
  /** A text may still be given to a process that has just ended: callers repeat it. */
  const spoken = (tool: Hibari, request: SpeechRequest) =>
    speak(tool, request).catch(() => speak(tool, request));
  const digestOf = (pcm: Buffer): string => createHash("sha256").update(pcm).digest("hex");
  /** The processes of models. */
  const speakers = (): number[] => childrenOf(host.stats().pid ?? 0).map(({ pid }) => pid);

  it("names the runtime, the files and its own code in a voice's version", () => {
    const tool = toolWith();
    expect(tool.version("heart"))
      .to.include(onnxRuntime)
      .and.to.include(installed.get("hibari:heart")?.digest);
    expect(tool.has("constructor")).to.equal(false);
  });

  it("has a voice as soon as it is installed", () => {
    const voices = new Map<string, InstalledVoice>();
    const tool = toolWith(voices);
    expect(tool.has("heart")).to.equal(false);
    for (const [name, voice] of installed) voices.set(name, voice);
    expect(tool.has("heart")).to.equal(true);
  });

  it("speaks the same bytes in every process, whatever was spoken before", async () => {
    const tool = toolWith();
    const first = digestOf((await speak(tool, requestOf(sentence))).pcm);
    await speak(tool, requestOf("Something else, and louder!"));
    expect(digestOf((await speak(tool, requestOf(sentence))).pcm)).to.equal(first);
    const pids = speakers();
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await gone(...pids);
    expect(digestOf((await spoken(tool, requestOf(sentence))).pcm)).to.equal(first);
  });

  it("reports where the words begin, in order and within the audio", async () => {
    const { pcm, events } = await speak(toolWith(), requestOf(sentence));
    const words = events.filter(({ kind }) => kind === "word");
    expect(words.map(({ position, length }) => sentence.slice(position, position + length))).to.deep.equal(
      sentence.match(/\w+/g),
    );
    const samples = words.map(({ sample }) => sample);
    expect(samples).to.deep.equal(samples.toSorted((a, b) => a - b));
    expect(samples.at(-1)).to.be.below(pcm.length / 2);
    expect(events.some(({ kind, value }) => kind === "phoneme" && value === "ʧ")).to.equal(true);
  });

  it("says signs by their names, and leaves signs and digits that it would skip to other voices", async () => {
    const tool = toolWith();
    for (const signs of ["%", "&&", "#", "@", "~", "°", "/", "→"])
      expect((await spoken(tool, requestOf(signs))).pcm.length, signs).to.be.greaterThan(10_000);
    for (const signs of ["🐱", "♥", "*", "|"])
      expect(await rejection(speak(tool, requestOf(signs))), signs).to.be.instanceOf(Unpronounceable);
    expect(await rejection(speak(tool, requestOf("…!")))).to.be.instanceOf(NothingToSpeak);
    expect(tool.unreadable?.("x² ½ 5 ﬁ 〇 五", "en-US")).to.deep.equal(["〇", "五"]);
  });

  it("speaks faster at a higher rate, and as long at another pitch", async () => {
    const tool = toolWith();
    const lengthWith = async (prosody: Partial<typeof normalProsody>) =>
      (await speak(tool, requestOf(sentence, { ...normalProsody, ...prosody }))).pcm.length;
    const normal = await lengthWith({});
    expect(await lengthWith({ rate: 2 })).to.be.below(0.7 * normal);
    expect(await lengthWith({ pitch: 1.5 })).to.equal(normal);
  });

  it("fails for a truncated model, and only for it", async () => {
    const heart = installed.get("hibari:heart");
    if (!heart) throw new Error("not installed");
    await copyFile(join(heart.folder, "hibari.onnx"), join(folder, "hibari.onnx"));
    await truncate(join(folder, "hibari.onnx"), 1_000_000);
    await copyFile(join(heart.folder, "vocab.json"), join(folder, "vocab.json"));
    const broken = toolWith(new Map([["hibari:heart", { ...heart, folder }]]));
    expect(await rejection(speak(broken, requestOf(sentence)))).to.have.property("reason", "library");
    await host.ping();
    await gone(...speakers());
    expect((await spoken(toolWith(), requestOf(sentence))).pcm.length).to.be.above(0);
  });

  it("loads a voice that it keeps loaded again when its process was killed and no text follows", async () => {
    const tool = toolWith();
    await tool.keepLoaded("heart");
    const killed = speakers();
    const failure = rejection(speak(tool, requestOf(`${sentence} `.repeat(5))));
    await until("the text is given to the process", () => host.stats().running > 0);
    for (const pid of killed) process.kill(pid, "SIGKILL");
    expect(await failure).to.have.property("reason", "killed");
    await gone(...killed);
    await until("the voice is loaded again", () => speakers().length > 0);
  });

  it("speaks hundreds of unknown words without more memory", async () => {
    const tool = toolWith();
    const random = randomOf(1);
    const letters = (count: number): string =>
      Array.from({ length: count }, () => String.fromCharCode(97 + random(26))).join("");
    await tool.keepLoaded("heart");
    const [pid = 0] = speakers();
    for (let text = 0; text < 24; text++) {
      const words = Array.from({ length: 25 }, () => letters(7)).join(" ");
      await speak(tool, requestOf(words, { ...normalProsody, rate: 2.5 }));
    }
    expect(speakers()).to.deep.equal([pid]);
    const [, peak] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
    expect(Number(peak) / 1024).to.be.below(300);
  });

  it("replaces a process that was killed", async () => {
    const tool = toolWith();
    await tool.keepLoaded("heart");
    const [pid = 0] = speakers();
    process.kill(pid, "SIGKILL");
    await gone(pid);
    expect((await spoken(tool, requestOf(sentence))).pcm.length).to.be.above(0);
  });

  it("replaces a process that hangs", async () => {
    const tool = toolWith();
    await tool.keepLoaded("heart");
    const [pid = 0] = speakers();
    process.kill(pid, "SIGSTOP");
    expect(await rejection(speak(toolWith(installed, 200), requestOf(sentence)))).to.have.property(
      "reason",
      "deadline",
    );
    await gone(pid);
    expect((await spoken(tool, requestOf(sentence))).pcm.length).to.be.above(0);
  });
});
