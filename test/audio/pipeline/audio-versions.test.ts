import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { ffmpegEncoder } from "../../../src/audio/formats/ffmpeg-encoder.ts";
import { fixWavSizes } from "../../../src/audio/formats/wav.ts";
import { naturalVoices } from "../../../src/domain/catalog/natural-voices.ts";
import { releaseSeed } from "../../../src/domain/catalog/seed/seed.ts";
import {
  type AudioFormat,
  type EncodedFormat,
  encodedFormats,
  type FormatTraits,
  formats,
} from "../../../src/domain/synthesis/formats.ts";
import { normalProsody, type Prosody } from "../../../src/domain/synthesis/speech.ts";
import { wavHeader } from "../../../src/domain/synthesis/wav-header.ts";
import { parseSsml } from "../../../src/domain/text/ssml.ts";
import { azureProvider } from "../../../src/engines/azure/provider.ts";
import type { Engine } from "../../../src/engines/engine.ts";
import { googleProvider } from "../../../src/engines/google/provider.ts";
import { localEngines } from "../../../src/engines/local/engine.ts";
import { gainOf } from "../../../src/engines/local/gains.ts";
import { hibari } from "../../../src/engines/local/hibari.ts";
import { kokoro } from "../../../src/engines/local/kokoro.ts";
import { createModelStates } from "../../../src/engines/local/model-states.ts";
import { pico } from "../../../src/engines/local/pico.ts";
import { sherpa } from "../../../src/engines/local/sherpa.ts";
import type { ModelPack } from "../../../src/engines/models/pack.ts";
import type { InstalledVoice } from "../../../src/engines/natural-voices/natural-voices.ts";
import { voicePackages } from "../../../src/engines/natural-voices/packages.ts";
import { openAiProvider } from "../../../src/engines/openai/provider.ts";
import type { Exchange } from "../../../src/engines/provider-http/exchange.ts";
import { scale } from "../../../src/pcm/read-samples.ts";
import { trimSilence } from "../../../src/pcm/trim-silence.ts";
import { espeakArguments } from "../../../src/subprocess/espeak.ts";
import type { SubprocessHost } from "../../../src/subprocess/subprocess-host.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite } from "../../support/during.ts";
import { kokoroVoiceName, naturalJob, naturalVoiceNames } from "../../support/natural-requests.ts";
import { childrenOf, until } from "../../support/processes.ts";
import { speakingPieces } from "../../support/speak-piece.ts";
import { openToolHost } from "../../support/tool-host.ts";

/**
 * The digest of everything that an engine's tool or provider is asked for, and of how a format is
 * encoded, by version. If a digest changes, raise that version (`preparation`, `Engine.version`, or
 * `version` in the table of formats), and record the new digest under it: all names of its audio
 * change then, and no others.
 */
const kept: Readonly<Record<string, string>> = {
  "espeak preparation 1; text 1": "5738a73833c0c89c83f16636df9295ac",
  "flite preparation 1; text 1": "f16907f3b37030456a668f08a6ae9f00",
  "sherpa preparation 1; text 1": "47ea5920b0dd10f2bc527dd71e5b5493",
  "pico preparation 1; text 1": "5603a399b8dd0d5e71cc3c967b6f399f",
  "hibari preparation 1; text 1": "6afeb145182a20f342ff2d738cc87a15",
  "kokoro preparation 1; text 1": "081182ce1606a68507ec1484956d1382",
  "samples of hibari:heart: hibari 1; onnxruntime-web 1.30.0; preparation 1":
    "7889b80e2994f866e0e98430a87011ca",
  "samples of pico:en-GB: SVOX Pico 0.2.0; preparation 1": "92a80f1241bab42cf27d5cd206f7234b",
  "samples of kokoro:bf_emma: kokoro 1; onnxruntime-web 1.30.0; preparation 1":
    "fc7ebc97eb491f6bbbffc352b42e290f",
  "google texttospeech v1": "19598d18e6010dffbc7d1e70f45153fb",
  "azure speech v1": "5f7f31fc895f87ac9c5d81fb9e7627b1",
  "openai api.openai.com/v1 gpt-4o-mini-tts": "549a174d3f59f44392e171a3153d04a7",
  "mp3 1": "2f5170619f956010185f817c0fabc888",
  "ogg 1": "c5139e7d30c9e185a6076ff42363d26f",
  "opus 1": "8280ab48256def90649e527b29ddf6aa",
  "flac 1": "474cee45956dfe4791b972d91573d03b",
  "aac 1": "85cc9afd7f578ae35b8b1f2e2badbdb1",
  "pcm 1": "f0cdf128e847b0ca84dd4a80a6ba4ae1",
  "mp3_22050_32 1": "3d642e687d4ac87522e4fb5e4b28e19e",
  "mp3_24000_48 1": "b415b7ce8eba991794e5657f8088db7a",
  "mp3_44100_32 1": "d4ef1325df7bd513212f4a02c87deeb6",
  "mp3_44100_64 1": "b84c4b0d30656465b0e7240b92632a16",
  "mp3_44100_96 1": "4d36ec5010f966d989040afa3a806c37",
  "mp3_44100_128 1": "9a4d513410d449481e76441921894925",
  "mp3_44100_192 1": "82c0b7f9cf17c09e08174394e57c0b4d",
  "opus_48000_64 1": "0ac181a0fa5ce8c7c09f0f62ac2c8eb2",
  "opus_48000_96 1": "14f72633d764afbbcf1765852eb67d44",
  "opus_48000_128 1": "206c69dd52758080aa5c0270b5f5d1f4",
  "opus_48000_192 1": "ce0579a43c9943e0c2883472c6634536",
  "pcm_8000 1": "1cc69f1785e6bd43c30e7fa90e7a351b",
  "pcm_16000 1": "a52f6f79dcaf98b115e87c7027e7d48a",
  "pcm_22050 1": "f38867772c8cda9e7e937c55b84b54c6",
  "pcm_32000 1": "5bdf95e76c0a054dc603f0f33ad88fec",
  "pcm_44100 1": "3529f5b740ee01f41490a295ecf6d5db",
  "pcm_48000 1": "26838e5853800d4e49dc9a24b98d80c3",
  "wav_8000 1": "88b1d09bf562f668d50683ec67ff0ea1",
  "wav_16000 1": "0c5b11b0449abe212a4b0b82699cdae2",
  "wav_22050 1": "d2084840f79b8321d794207fbc4c3c96",
  "wav_24000 1": "242ad1ca3431525cc42eb8310bb2cc7e",
  "wav_32000 1": "c5dda9cdb9c23baf083872b0b6387413",
  "wav_44100 1": "80b73e9bca98fdaa29a39999354353ca",
  "wav_48000 1": "6eb1c613e146eb780178306f0c912be9",
  "ulaw_8000 1": "2c461d237b65c7d92b2d1db71156a85a",
  "alaw_8000 1": "774e9061b2930f0f266c77ad267d516f",
  "wav 1": "3312cd775f082118d9fd7a3389fad57d",
};

const never = new AbortController().signal;
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
const naturalTexts = [
  "The birch canoe slid on the smooth planks.",
  "It's easy to tell the depth of a well, they say; or is it?",
  "Four hours of steady work faced us!",
];
const documents = [
  '<?xml version="1.0"?><speak version="1.1" xml:lang="en"><!-- no --><p>One &amp; <s>two</s></p></speak>',
  '<speak>One<break/><break strength="strong"/><break time="99s"/><sub alias="two">2</sub></speak>',
  '<speak><prosody volume="soft" rate="50%" pitch="+2st">One</prosody> <voice name="x">two</voice></speak>',
  '<speak><phoneme alphabet="ipa" ph="a">One</phoneme> <say-as interpret-as="digits">12</say-as></speak>',
];

/**
 * Speaks in all voices: with each prosody, each text, and each document if the voice takes SSML.
 */
const speakAll = async (engine: Engine, voices: readonly string[], asked: readonly AudioFormat[]) => {
  const say = async (voice: string, text: string, prosody: Prosody, format: AudioFormat, ssml = false) => {
    const request = { text, ssml, voice, lang: "en-US", prosody, format };
    const { audio } = await engine.synthesize(request, never);
    await collect(audio);
  };
  const [first = "mp3"] = asked;
  for (const voice of voices) {
    for (const prosody of prosodies) await say(voice, "One.", prosody, first);
    for (const format of asked) for (const text of texts) await say(voice, text, normalProsody, format);
    if (!engine.takesSsml(voice)) continue;
    for (const document of documents) await say(voice, parseSsml(document), normalProsody, first, true);
  }
};

/** One second of audio, and the same as the samples of a file. */
const ramp = (): Buffer => {
  const samples = Buffer.alloc(48_000);
  for (let at = 0; at < samples.length; at += 2) samples.writeInt16LE((at * 31) % 31_000, at);
  return samples;
};
const ofLength = (seconds: number): Buffer => Buffer.concat(Array.from({ length: seconds }, ramp));
const wav = (seconds: number): Buffer => {
  const samples = ofLength(seconds);
  return Buffer.concat([wavHeader(24_000, samples.length), samples]);
};

const pcm = async function* (bytes: Buffer) {
  yield bytes;
};

describe("The version of audio", () => {
  const host = duringSuite(openToolHost);

  const expectVersion = (version: string, covered: unknown): void => {
    const digest = createHash("sha256").update(JSON.stringify(covered)).digest("hex").slice(0, 32);
    expect(digest, `audio would change under the names of ${version}`).to.equal(kept[version]);
  };

  describe("of a local tool", () => {
    const pack: ModelPack = {
      name: "pack",
      kind: "vits",
      config: {},
      digest: "digest",
      speakers: [{ id: 3, name: "Someone", lang: "en-US", gender: "f" }],
      isExact: true,
    };

    const installed = new Map<string, InstalledVoice>(
      voicePackages.flatMap((one) =>
        Object.keys(one.voices).map((voice) => {
          const voiceName = `${one.name}:${voice}`;
          return [voiceName, { voiceName, package: one, folder: "folder", digest: "digest" }];
        }),
      ),
    );

    /** The tools' orders. They speak less, because only their input counts here. */
    const ordersTo = async (voices: readonly string[]): Promise<{ engine: Engine; orders: unknown[] }> => {
      const orders: unknown[] = [];
      const watched: SubprocessHost = {
        ...host,
        run: (job, signal) => {
          orders.push(job);
          return host.run({ ...job, input: job.input && "One." }, signal);
        },
        // The library speaks what the command line would.
        speak: (job, signal) => {
          orders.push({ tool: "espeak-ng", args: espeakArguments(job), output: "pipe", input: job.input });
          return host.speak({ ...job, input: job.ssml ? job.input : "One." }, signal);
        },
        speakByModel: ({ model: { name, start, memoryBytes, idleMs }, request }) => {
          orders.push({ model: { name, ...start, memoryBytes, idleMs }, ...request });
          return pcm(wav(1));
        },
      };
      const limits = { threads: 1, memoryBytes: 1, idleMs: 1 };
      const states = createModelStates({ warn: () => {} });
      const model = sherpa([pack], { host: watched, library: "1.2.3", states, limits });
      const models = new Map([["g1", model]] as const);
      const natural = [
        hibari({ host: watched, installed, states, idleMs: 1 }),
        pico({ installed, states }),
        kokoro({ host: watched, installed, states, idleMs: 1 }),
      ].filter((tool) => tool !== undefined);
      const [engine] = await localEngines({ host: speakingPieces(watched), models, natural });
      if (!engine) throw new Error("There is no tool to ask.");
      orders.length = 0;
      await speakAll(engine, voices, ["mp3"]);
      return { engine, orders };
    };

    /** What all local tools share after their own samples. */
    const processed = async (): Promise<string[]> => {
      const limits = { leading: 2, trailing: 3, silence: 30_000 };
      const all = [await collect(scale(pcm(ramp()), 0.37)), await collect(trimSilence(pcm(ramp()), limits))];
      return all.map((chunks) => createHash("sha256").update(Buffer.concat(chunks)).digest("hex"));
    };

    const tools: Readonly<Record<string, readonly string[]>> = {
      espeak: ["espeak:gmw/en-US+f3", "espeak:roa/fr", "espeak:gmw/en-US"],
      flite: ["flite:slt", "flite:rms", "flite:kal16"],
      sherpa: ["sherpa:pack#3"],
      pico: ["pico:en-GB", "pico:fr-FR"],
      hibari: ["hibari:heart", "hibari:emma"],
      kokoro: ["kokoro:af_heart", "kokoro:ff_siwis"],
    };
    for (const [tool, voices] of Object.entries(tools)) {
      it(`changes whenever ${tool} is asked for something else, or its samples are changed in another way`, async () => {
        const { engine, orders } = await ordersTo(voices);
        const version = engine.version(voices[0] ?? "");
        const prepared = ["preparation", "text"].map((word) => new RegExp(`${word} \\d+`).exec(version)?.[0]);
        const named = [...releaseSeed().systemVoices, ...naturalVoices].map(
          ({ voiceName = "" }) => voiceName,
        );
        const gains = named.filter((voice) => voice.startsWith(`${tool}:`)).map((voice) => gainOf(voice));
        expectVersion(`${tool} ${prepared.join("; ")}`, { orders, processed: await processed(), gains });
      });
    }
  });

  describe("of a natural voice", () => {
    for (const voiceName of [...naturalVoiceNames, kokoroVoiceName] as const) {
      it(`changes whenever the samples of ${voiceName} do`, async function () {
        const found = await naturalJob(voiceName);
        // `scripts/natural-voices` installs them.
        if (!found) return this.skip();
        const { version, ...job } = found;
        const spoken: string[] = [];
        for (const change of [{}, { speed: job.request.speed * 1.25 }, { pitch: job.request.pitch * 1.25 }]) {
          // Kokoro is slow.
          for (const text of voiceName === kokoroVoiceName ? naturalTexts.slice(0, 1) : naturalTexts) {
            const request = { ...job.request, text, ...change };
            const audio = await collect(host.speakByModel({ ...job, request }, never));
            spoken.push(createHash("sha256").update(Buffer.concat(audio)).digest("hex"));
          }
        }
        const own = version.replace(/ [0-9a-f]{16,};/, "");
        expectVersion(`samples of ${voiceName}: ${own}`, spoken);
      });
    }
  });

  describe("of a provider", () => {
    const requestsTo = () => {
      const requests: unknown[] = [];
      const exchange: Exchange = async ({ method, url, headers, body }) => {
        requests.push({ method, url: url.href, format: headers["X-Microsoft-OutputFormat"], body });
        const sound = wav(20);
        const json = JSON.stringify({ audioContent: sound.toString("base64") });
        const isJson = url.hostname.endsWith("googleapis.com");
        return {
          status: 200,
          headers: { "content-type": isJson ? "application/json" : "audio/wav" },
          body: pcm(isJson ? Buffer.from(json) : sound),
        };
      };
      return { requests, exchange };
    };
    const { requests, exchange } = requestsTo();
    const openAi = { baseUrl: "https://api.openai.com", operators: exchange, websites: exchange };
    const engines: readonly (readonly [Engine, ...string[]])[] = [
      [
        googleProvider({ exchange }).open({ apiKey: "k" }).engine,
        "en-US-Neural2-C",
        "en-US-Chirp3-HD-Kore",
        "en-US-Studio-O",
      ],
      [
        azureProvider({ exchange }).open({ subscriptionKey: "k", region: "westeurope" }).engine,
        "en-US-JennyNeural",
        "en-US-Ava:DragonHDLatestNeural",
      ],
      [openAiProvider(openAi).open({ apiKey: "k" }).engine, "alloy"],
    ];
    for (const [engine, ...voices] of engines) {
      it(`changes whenever ${engine.code} is asked for something else`, async () => {
        requests.length = 0;
        await speakAll(engine, voices, ["mp3", "ogg", "wav"]);
        expectVersion(engine.version(""), requests);
      });
    }
  });

  describe("of a format", () => {
    /** The arguments of the format's encoder, while it works. */
    const argumentsOf = async (format: EncodedFormat): Promise<string[]> => {
      const working = () =>
        childrenOf(host.stats().pid ?? 0)
          .filter(({ command }) => command === "ffmpeg")
          .map(({ pid }) => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(1))
          .filter((args) => args.length > 0); // A process that starts has none yet.
      const all: string[][] = [];
      const silence = async function* () {
        yield Buffer.alloc(4410);
        await until("the encoder works", () => working().length === 1);
        all.push(...working());
      };
      await collect(ffmpegEncoder(host).encode(format, 22_050, silence(), never));
      return all.flat();
    };
    const versionOf = (format: AudioFormat): string => {
      const { version = 1 }: FormatTraits = formats[format];
      return `${format} ${version}`;
    };

    for (const format of encodedFormats) {
      it(`changes whenever the encoder of ${format} is started in another way`, async () => {
        expectVersion(versionOf(format), await argumentsOf(format));
      });
    }

    it("changes whenever the bytes of wav do", async () => {
      const bytes = Buffer.concat(
        await collect(ffmpegEncoder(host).encode("wav", 22_050, pcm(ramp()), never)),
      );
      expectVersion(versionOf("wav"), fixWavSizes(bytes).toString("base64"));
    });

    it("is that of the format alone, with ffmpeg's own if it encodes the format", () => {
      const { version } = ffmpegEncoder(host);
      expect(version("wav")).to.equal("wav 1");
      expect(version("mp3")).to.match(/^ffmpeg .+; mp3 1$/);
    });
  });
});
