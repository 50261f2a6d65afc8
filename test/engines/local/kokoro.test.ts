import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { NothingToSpeak, Unpronounceable } from "../../../src/domain/errors.ts";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import type { SpeechRequest } from "../../../src/engines/engine.ts";
import { gainOf } from "../../../src/engines/local/gains.ts";
import { kokoro } from "../../../src/engines/local/kokoro.ts";
import type { LocalTool } from "../../../src/engines/local/local-tool.ts";
import { createModelStates } from "../../../src/engines/local/model-states.ts";
import { kokoro as kokoroPackage } from "../../../src/engines/natural-voices/kokoro.ts";
import {
  type InstalledVoice,
  naturalVoicesFolder,
  openNaturalVoices,
} from "../../../src/engines/natural-voices/natural-voices.ts";
import { onnxRuntime } from "../../../src/natural/onnx/session.ts";
import type { ModelJob } from "../../../src/subprocess/jobs.ts";
import type { KokoroRequest } from "../../../src/subprocess/kokoro.ts";
import type { SubprocessHost } from "../../../src/subprocess/subprocess-host.ts";
import { ToolFailed } from "../../../src/subprocess/tools.ts";
import { childrenOf, gone, pollTimeoutMs } from "../../support/processes.ts";
import { rejection } from "../../support/rejection.ts";
import { speakByTool, speakingPieces } from "../../support/speak-piece.ts";
import { openToolHost } from "../../support/tool-host.ts";

const never = new AbortController().signal;

const requestOf = (voice: string, text: string, lang = "en-US", prosody = normalProsody): SpeechRequest => ({
  text,
  ssml: false,
  voice,
  lang,
  prosody,
  format: "wav",
});

const voicesNamed = (...names: readonly string[]): ReadonlyMap<string, InstalledVoice> =>
  new Map(
    names.map((name) => {
      const voiceName = `kokoro:${name}`;
      return [
        voiceName,
        { voiceName, package: kokoroPackage, folder: "/kokoro", digest: `digest of ${name}` },
      ];
    }),
  );

describe("The tool Kokoro", () => {
  const hostWith = (more: Partial<SubprocessHost> = {}) =>
    ({ versions: { "espeak-ng": "1.51" }, espeak: "library", ...more }) as SubprocessHost;
  const states = createModelStates({ warn: () => {} });
  const toolWith = (host = hostWith(), installed = voicesNamed("bf_emma", "am_michael", "ff_siwis")) =>
    kokoro({ host, installed, states, idleMs: 1000 }) as LocalTool;
  const jobFor = (request: SpeechRequest) => toolWith().pieceFor(request).job as ModelJob;
  const ordered = (request: SpeechRequest) => jobFor(request).request;

  it("has a voice as soon as it is installed", () => {
    const installed = new Map<string, InstalledVoice>();
    const tool = toolWith(hostWith(), installed);
    expect([tool.has("bf_emma"), tool.modelOf?.("bf_emma")]).to.deep.equal([false, undefined]);
    for (const [name, voice] of voicesNamed("bf_emma")) installed.set(name, voice);
    expect(tool.has("bf_emma")).to.equal(true);
    expect(tool.modelOf?.("bf_emma")).to.deep.include({ start: { folder: "/kokoro" } });
  });

  it("has its one model read each voice's language, at the rate that is asked for", async () => {
    const prosody = { ...normalProsody, rate: 1.5 };
    expect([ordered(requestOf("bf_emma", "Ready.", "en-GB", prosody))]).to.deep.equal([
      {
        text: "Ready.",
        voice: "bf_emma.bin",
        reader: { accent: "gb" },
        speed: 1.5,
        pitch: 1,
        gain: gainOf("kokoro:bf_emma"),
      },
    ]);
    expect([ordered(requestOf("ff_siwis", "Prêt.", "fr-FR"))]).to.deep.equal([
      {
        text: "Prêt.",
        voice: "ff_siwis.bin",
        reader: { espeak: "roa/fr" },
        speed: 1,
        pitch: 1,
        gain: gainOf("kokoro:ff_siwis"),
      },
    ]);
    const [model, other] = ["bf_emma", "ff_siwis"].map((voice) => toolWith().modelOf?.(voice));
    expect(model?.name).to.equal(other?.name);
  });

  it("changes the pitch from 2/3 to 5/3 of the voice's own, as hibari", async () => {
    expect(toolWith().prosodyParameters("bf_emma")).to.deep.equal(["pitch", "rate", "volume"]);
    const pitches: unknown[] = [];
    for (const pitch of [0, 1, 2]) {
      const modelRequest = ordered(requestOf("bf_emma", "Ready.", "en-GB", { ...normalProsody, pitch }));
      pitches.push((modelRequest as KokoroRequest).pitch);
    }
    expect(pitches).to.deep.equal([2 / 3, 1, 1 + 2 / 3]);
  });

  it("speaks words with the pronunciation that a document gives, in IPA or X-SAMPA, in all its languages", async () => {
    const document = `<speak>La <phoneme ph="ˈka.za">casa</phoneme> <phoneme alphabet="x-sampa" ph='"kasa'>casa</phoneme></speak>`;
    for (const voice of ["ff_siwis", "bf_emma"]) {
      expect(toolWith().takesPhonemes).to.equal(true);
      const modelRequest = ordered({ ...requestOf(voice, document), ssml: true });
      expect(modelRequest).to.include({ text: "La casa casa" });
      expect((modelRequest as KokoroRequest).pronounced).to.deep.equal([
        { start: 3, end: 7, ipa: "ˈka.za" },
        { start: 8, end: 12, ipa: "ˈkasa" },
      ]);
    }
  });

  it("places the words of a document where they are written in it", async () => {
    const document = '<speak>La <phoneme ph="kasa">casa</phoneme></speak>';
    const { placed } = toolWith().pieceFor({ ...requestOf("ff_siwis", document), ssml: true });
    const events = placed?.([{ kind: "word", position: 3, length: 4, sample: 0 }]) ?? [];
    expect(events.map(({ position }) => position)).to.deep.equal([document.indexOf("casa")]);
  });

  it("yields to all other tools, ends when it is idle, and has bounded memory and time", async () => {
    const { model, deadlineMs } = jobFor(requestOf("bf_emma", "Ready."));
    expect(model).to.include({ lowPriority: true, idleMs: 1000, memoryBytes: 1280 * 1024 * 1024 });
    expect(deadlineMs).to.equal(240_000);
  });

  it("names the runtime, the files and its own code in a voice's version, and espeak-ng where that reads", () => {
    const tool = toolWith();
    expect(tool.version("bf_emma"))
      .to.include(onnxRuntime)
      .and.to.include("digest of bf_emma")
      .and.not.to.include("espeak");
    expect(tool.version("ff_siwis")).to.include("digest of ff_siwis").and.to.include("espeak-ng 1.51");
  });

  it("promises the same samples on every machine only for English, which no native program reads", () => {
    const tool = toolWith();
    expect(tool.isReproducible?.("am_michael")).to.equal(true);
    expect(tool.isReproducible?.("ff_siwis")).to.equal(false);
  });

  it("has only its English voices where the library of espeak-ng is missing", () => {
    const tool = toolWith(hostWith({ espeak: undefined }));
    expect([tool.has("bf_emma"), tool.has("ff_siwis")]).to.deep.equal([true, false]);
    expect([tool.has("bf_alice"), tool.has("constructor")]).to.deep.equal([false, false]);
  });

  it("leaves signs and letters that it would skip to other voices", async () => {
    const tool = toolWith();
    expect(() => tool.pieceFor(requestOf("bf_emma", "♥"))).to.throw(Unpronounceable);
    expect(() => tool.pieceFor(requestOf("ff_siwis", "…!"))).to.throw(NothingToSpeak);
    expect(tool.unreadable?.("x² 五", "en-US")).to.deep.equal(["五"]);
    expect(tool.unreadable?.("नमस्ते", "hi-IN")).to.deep.equal([]);
  });

  it("is not started for a while after its process has failed again and again", async () => {
    const host = speakingPieces(
      hostWith({
        speakByModel: async function* () {
          yield Buffer.alloc(0);
          throw new ToolFailed("library", "The model kokoro cannot be loaded.");
        },
      }),
    );
    const failing = createModelStates({ warn: () => {} });
    const installed = voicesNamed("bf_emma");
    const tool = kokoro({ host, installed, states: failing, idleMs: 1000 }) as LocalTool;
    for (let attempt = 0; attempt < 3; attempt++)
      expect(await rejection(speakByTool(host, tool, requestOf("bf_emma", "Ready.")))).to.have.property(
        "reason",
        "library",
      );
    expect(failing.failures()).to.deep.equal(["kokoro: The model kokoro cannot be loaded."]);
    expect(await rejection(speakByTool(host, tool, requestOf("bf_emma", "Ready."))))
      .to.have.property("message")
      .that.includes("is not used for a while");
  });
});

describe("Kokoro, where scripts/natural-voices --kokoro has installed it", () => {
  let host: SubprocessHost;
  let installed: ReadonlyMap<string, InstalledVoice>;
  before(async function () {
    ({ installed } = await openNaturalVoices(naturalVoicesFolder(process.env.NATURAL_VOICES_DIR)));
    // `scripts/natural-voices --kokoro` installs it.
    if (!installed.has("kokoro:bf_emma")) return this.skip();
    host = await openToolHost();
  });
  after(() => host?.close());

  const toolWith = (deadlineMs = pollTimeoutMs): LocalTool => {
    const states = createModelStates({ warn: () => {} });
    return kokoro({ host, installed, states, idleMs: 60_000, deadlineMs }) as LocalTool;
  };
  const speak = (tool: LocalTool, request: SpeechRequest, signal = never) =>
    speakByTool(host, tool, request, signal);
  /** A text may still be given to a process that has just ended: callers repeat it. */
  const spoken = (tool: LocalTool, request: SpeechRequest) =>
    speak(tool, request).catch(() => speak(tool, request));
  const digestOf = (pcm: Buffer): string => createHash("sha256").update(pcm).digest("hex");
  /** The process of the model. */
  const modelPid = (): number => {
    const isModel = (pid: number): boolean =>
      readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("models/kokoro");
    const found = childrenOf(host.stats().pid ?? 0).find(({ pid }) => isModel(pid));
    if (!found) throw new Error("the model has no process");
    return found.pid;
  };

  it("speaks the same bytes in every process, whatever was spoken before", async () => {
    const tool = toolWith();
    const first = await speak(tool, requestOf("bf_emma", "Two cats."));
    expect(first.sampleRate).to.equal(24_000);
    await speak(tool, requestOf("ff_siwis", "Deux chats.", "fr-FR"));
    const french = await speak(tool, requestOf("ff_siwis", "Un chat.", "fr-FR"));
    expect(digestOf((await speak(tool, requestOf("bf_emma", "Two cats."))).pcm)).to.equal(
      digestOf(first.pcm),
    );
    const pid = modelPid();
    process.kill(pid, "SIGKILL");
    await gone(pid);
    expect(digestOf((await spoken(tool, requestOf("bf_emma", "Two cats."))).pcm)).to.equal(
      digestOf(first.pcm),
    );
    expect(digestOf((await speak(tool, requestOf("ff_siwis", "Un chat.", "fr-FR"))).pcm)).to.equal(
      digestOf(french.pcm),
    );
  });

  it("reports where words and phonemes begin, in order and within the audio", async () => {
    const { pcm, events } = await speak(toolWith(), requestOf("bf_emma", "Two cats."));
    const words = events.filter(({ kind }) => kind === "word");
    expect(words.map(({ position, length }) => "Two cats.".slice(position, position + length))).to.deep.equal(
      ["Two", "cats"],
    );
    const phonemes = events.filter(({ kind }) => kind === "phoneme");
    expect(phonemes.map(({ value }) => value).join("")).to.equal("tukats");
    const samples = phonemes.map(({ sample }) => sample);
    expect(samples).to.deep.equal(samples.toSorted((a, b) => a - b));
    expect(samples.at(-1)).to.be.below(pcm.length / 2);
  });

  it("speaks the next text after one was aborted in the middle of a sentence", async () => {
    const tool = toolWith();
    await speak(tool, requestOf("bf_emma", "Ready."));
    const left = new AbortController();
    const speaking = speak(
      tool,
      requestOf("bf_emma", `It goes on ${"and on, ".repeat(30)}and on.`),
      left.signal,
    );
    left.abort(new Error("left"));
    expect(await rejection(speaking)).to.have.property("message", "left");
    expect((await spoken(tool, requestOf("bf_emma", "Ready."))).pcm.length).to.be.above(0);
  });

  it("replaces a process that hangs", async () => {
    const tool = toolWith();
    await speak(tool, requestOf("bf_emma", "Ready."));
    const pid = modelPid();
    process.kill(pid, "SIGSTOP");
    expect(await rejection(speak(toolWith(200), requestOf("bf_emma", "Ready.")))).to.have.property(
      "reason",
      "deadline",
    );
    await gone(pid);
    expect((await spoken(tool, requestOf("bf_emma", "Ready."))).pcm.length).to.be.above(0);
  });
});
