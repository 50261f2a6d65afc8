import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { ffmpegEncoder } from "../../../src/audio/formats/ffmpeg-encoder.ts";
import { fixWavSizes } from "../../../src/audio/formats/wav.ts";
import { releaseSeed } from "../../../src/domain/catalog/seed/seed.ts";
import { encodedFormats } from "../../../src/domain/synthesis/formats.ts";
import { hashRecipe, pipelineVersion } from "../../../src/domain/synthesis/recipe.ts";
import type { Prosody } from "../../../src/domain/synthesis/speech.ts";
import { localEngines } from "../../../src/engines/local/engine.ts";
import { gainOf } from "../../../src/engines/local/gains.ts";
import { scale } from "../../../src/engines/pcm/read-samples.ts";
import { trimSilence } from "../../../src/engines/pcm/trim-silence.ts";
import { parseSsml } from "../../../src/engines/text/ssml.ts";
import { espeakArguments } from "../../../src/subprocess/espeak.ts";
import type { SubprocessHost, ToolJob } from "../../../src/subprocess/subprocess-host.ts";
import { collect } from "../../support/collect.ts";
import { childrenOf, until } from "../../support/processes.ts";
import { openToolHost } from "../../support/tool-host.ts";
import { renditionOf } from "./renditions.ts";

/**
 * The digest of the tools' arguments and input, keyed by pipeline version. Changing one requires changing the other:
 * raise `pipelineVersion` and write the new digest next to it.
 */
const kept: Readonly<Record<number, string>> = {
  5: "26b7de1f3190d96e0edfa4aba358d969733a55bc8a6b8ff4f656b91fb05b1180",
};

const never = new AbortController().signal;
const voices = ["espeak:gmw/en-US+f3", "espeak:roa/fr", "flite:slt", "flite:rms", "flite:kal16"];
const prosodies: readonly Prosody[] = [
  { pitch: 1, rate: 1, volume: 1 },
  { pitch: 0, rate: 0, volume: 0.01 },
  { pitch: 0.7, rate: 0.33, volume: 0.5 },
  { pitch: 1.5, rate: 1.4, volume: 0.004 },
  { pitch: 2, rate: 2, volume: 1 },
];
const long = "A sentence of the story, and another clause, then a few more words to the end of it. ";
const texts = [
  "Don\u2019t go to the caf\u00e9 \u2014 [[not]] \u{1F642} now.",
  `${long.repeat(4)}${"7319046528".repeat(31)} ${"word ".repeat(70)}`,
  "Before\u0000 and\u000199P after &#91;[x.",
];
const documents = [
  '<?xml version="1.0"?><speak version="1.1" xml:lang="en"><!-- no --><p>One &amp; <s>two</s></p></speak>',
  '<speak>One<break/><break strength="strong"/><break time="99s"/><sub alias="two">2</sub></speak>',
  '<speak><prosody volume="soft" rate="50%" pitch="+2st">One</prosody> <voice name="x">two</voice></speak>',
  '<speak><phoneme alphabet="ipa" ph="a">One</phoneme> <say-as interpret-as="digits">12</say-as></speak>',
];

describe("The pipeline version", () => {
  let host: SubprocessHost;
  before(async () => {
    host = await openToolHost();
  });
  after(() => host.close());

  /** The arguments and the input of the speech tools, which speak less, because only their input counts here. */
  const spoken = async (): Promise<unknown[]> => {
    const jobs: ToolJob[] = [];
    const watched: SubprocessHost = {
      ...host,
      run: (job, signal) => {
        jobs.push(job);
        return host.run({ ...job, input: job.input && "One." }, signal);
      },
      // The library speaks what the command line would.
      speak: (job, signal) => {
        jobs.push({ tool: "espeak-ng", args: espeakArguments(job), output: "pipe", input: job.input });
        return host.speak({ ...job, input: job.ssml ? job.input : "One." }, signal);
      },
    };
    const [engine] = await localEngines({ host: watched });
    if (!engine) throw new Error("There is no tool to ask.");
    jobs.length = 0;
    const say = async (voice: string, text: string, prosody: Prosody, ssml: boolean): Promise<void> => {
      const request = { text, ssml, voice, lang: "en-US", prosody, format: "mp3" } as const;
      const { audio } = await engine.synthesize(request, never);
      await collect(audio);
    };
    const plain = { pitch: 1, rate: 1, volume: 1 };
    for (const voice of voices) {
      for (const prosody of prosodies) await say(voice, "One.", prosody, false);
      for (const text of texts) await say(voice, text, plain, false);
    }
    for (const document of documents) await say("espeak:gmw/en-US", parseSsml(document), plain, true);
    return jobs;
  };

  /** The arguments of each encoder's process while it works. */
  const encoders = async (): Promise<string[][]> => {
    const all: string[][] = [];
    const working = () =>
      childrenOf(host.stats().pid ?? 0)
        .filter(({ command }) => command === "ffmpeg")
        .map(({ pid }) => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(1))
        .filter((args) => args.length > 0); // A process that starts has none yet.
    for (const format of encodedFormats) {
      const silence = async function* () {
        yield Buffer.alloc(4410);
        await until("the encoder works", () => working().length === 1);
        all.push(...working());
      };
      await collect(ffmpegEncoder(host).encode(format, 22_050, silence(), never));
    }
    return all.sort((a, b) => (a.join() < b.join() ? -1 : 1));
  };

  /** The output of sample processing that uses no tool. */
  const samples = async (): Promise<string[]> => {
    const ramp = Buffer.alloc(2000);
    for (let at = 0; at < ramp.length; at += 2) ramp.writeInt16LE(at * 31 - 31_000, at);
    const pcm = async function* () {
      yield ramp;
    };
    const wav = await collect(ffmpegEncoder(host).encode("wav", 22_050, pcm(), never));
    const quiet = await collect(scale(pcm(), 0.37));
    const cut = await collect(trimSilence(pcm(), { leading: 2, trailing: 3, silence: 30_000 }));
    const all = [fixWavSizes(Buffer.concat(wav)), Buffer.concat(quiet), Buffer.concat(cut)];
    return all.map((made) => made.toString("base64"));
  };

  const recipes = (): string[] => [
    hashRecipe(renditionOf("Cafe\u0301", { prosody: { pitch: 1.25, rate: 0.5, volume: 0.1 } }).recipe),
    hashRecipe(renditionOf("One.", { websiteId: "w1", format: "ogg", applied: ["volume", "pitch"] }).recipe),
  ];

  const gains = (): number[] => releaseSeed().systemVoices.map(({ voiceName = "" }) => gainOf(voiceName));

  it("changes whenever the arguments or the input of the tools change", async () => {
    const inputs = { spoken: await spoken(), encoders: await encoders(), samples: await samples() };
    const all = {
      ...inputs,
      documents: documents.map((document) => parseSsml(document)),
      recipes: recipes(),
      gains: gains(),
    };
    const digest = createHash("sha256").update(JSON.stringify(all)).digest("hex");
    expect(digest, "sounds would change under their old names").to.equal(kept[pipelineVersion]);
  });

  it("is part of every content address", () => {
    const { recipe } = renditionOf("One.");
    const canonical = [
      pipelineVersion,
      "test",
      "g1",
      "espeak:gmw/en",
      "en-US",
      "One.",
      [["rate", 1]],
      "mp3",
      null,
    ];
    const address = createHash("sha256").update(JSON.stringify(canonical)).digest("hex");
    expect(hashRecipe(recipe)).to.equal(address);
  });
});
