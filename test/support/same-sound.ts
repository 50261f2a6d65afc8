import { hash } from "node:crypto";
import { expect } from "chai";
import { releaseSeed } from "../../src/domain/catalog/seed/seed.ts";
import { normalProsody } from "../../src/domain/synthesis/speech.ts";
import { parseSsml } from "../../src/domain/text/ssml.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { localEngines } from "../../src/engines/local/engine.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { collect } from "./collect.ts";
import { openToolHost } from "./tool-host.ts";

/** A text as people write it, and as it is spelled out in words. */
export type Pair = readonly [text: string, spelledOut: string];

const never = new AbortController().signal;

/** The service's own voice of a language that this tool speaks, as in SystemVoice.voiceName. */
export const localVoiceOf = (lang: string, tool = "espeak"): string => {
  const { systemVoices } = releaseSeed();
  const voice = systemVoices.find((one) => one.lang === lang && one.voiceName?.startsWith(`${tool}:`));
  if (voice?.voiceName === undefined) throw new Error(`${tool} has no voice for ${lang}`);
  return voice.voiceName;
};

/** Defines one test for each pair: both texts give the same samples. All that a request passes in a local engine takes part. */
export const itSpeaksTheSame = (lang: string, pairs: readonly Pair[], tool = "espeak"): void => {
  describe(`${tool} in ${lang}`, () => {
    let host: SubprocessHost;
    let engine: Engine;
    before(async () => {
      host = await openToolHost();
      const [first] = await localEngines({ host });
      if (!first) throw new Error("No tool is installed.");
      engine = first;
    });
    after(() => host.close());

    const samplesOf = async (sent: string): Promise<string> => {
      const ssml = sent.startsWith("<speak");
      const text = ssml ? parseSsml(sent) : sent;
      const request = { text, ssml, voice: localVoiceOf(lang, tool), lang, prosody: normalProsody } as const;
      const { audio } = await engine.synthesize({ ...request, format: "wav" }, never);
      const samples = Buffer.concat(await collect(audio));
      return `${samples.length / 2} samples, sha256 ${hash("sha256", samples)}`;
    };

    for (const [text, spelledOut] of pairs) {
      it(`speaks “${text}” as “${spelledOut}”`, async () => {
        expect(await samplesOf(text)).to.equal(await samplesOf(spelledOut));
      });
    }
  });
};
