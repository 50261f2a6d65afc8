import { hash } from "node:crypto";
import { expect } from "chai";
import { releaseSeed } from "../../src/domain/catalog/seed/seed.ts";
import { normalProsody } from "../../src/domain/synthesis/speech.ts";
import { parseSsml } from "../../src/domain/text/ssml.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { localEngines } from "../../src/engines/local/engine.ts";
import { collect } from "./collect.ts";
import { openToolHost, shareHelper } from "./tool-host.ts";

/** A text as people write it, and as it is spelled out in words. */
export type Pair = readonly [text: string, spelledOut: string];

const never = new AbortController().signal;

const { systemVoices } = releaseSeed();

/** The service's own voice of a language that this tool speaks, as in SystemVoice.voiceName. */
export const localVoiceOf = (lang: string, tool = "espeak"): string => {
  const voice = systemVoices.find((one) => one.lang === lang && one.voiceName?.startsWith(`${tool}:`));
  if (voice?.voiceName === undefined) throw new Error(`${tool} has no voice for ${lang}`);
  return voice.voiceName;
};

let opened: Promise<Engine> | undefined;

/**
 * The local engine of all tests of this process, so that its voices are listed, and its tools
 * started, only once.
 */
const sharedEngine = (): Promise<Engine> => {
  opened ??= openToolHost({ superviseHelper: shareHelper }).then(async (host) => {
    const [engine] = await localEngines({ host });
    if (!engine) throw new Error("No tool is installed.");
    return engine;
  });
  return opened;
};

/** Describes the samples that the local engine gives for a text, after all of its steps. */
export const samplesOf = async (sent: string, lang: string, tool = "espeak"): Promise<string> => {
  const ssml = sent.startsWith("<speak");
  const text = ssml ? parseSsml(sent) : sent;
  const request = { text, ssml, voice: localVoiceOf(lang, tool), lang, prosody: normalProsody } as const;
  const { audio } = await (await sharedEngine()).synthesize({ ...request, format: "wav" }, never);
  const samples = Buffer.concat(await collect(audio));
  return `${samples.length / 2} samples, sha256 ${hash("sha256", samples)}`;
};

/** Defines one test for each pair: both texts give the same samples. */
export const itSpeaksTheSame = (lang: string, pairs: readonly Pair[], tool = "espeak"): void => {
  describe(`${tool} in ${lang}`, () => {
    for (const [text, spelledOut] of pairs) {
      it(`speaks “${text}” as “${spelledOut}”`, async () => {
        const [written, spelled] = await Promise.all(
          [text, spelledOut].map((one) => samplesOf(one, lang, tool)),
        );
        expect(written).to.equal(spelled);
      });
    }
  });
};
