import { expect } from "chai";
import { releaseSeed } from "../../../../src/domain/catalog/seed/seed.ts";
import { Unavailable } from "../../../../src/domain/errors.ts";
import { normalProsody } from "../../../../src/domain/synthesis/speech.ts";
import type { Engine } from "../../../../src/engines/engine.ts";
import { localEngines } from "../../../../src/engines/local/engine.ts";
import { say } from "../../../contracts/engine.ts";
import { duringSuite } from "../../../support/during.ts";
import { rejection } from "../../../support/rejection.ts";
import { openToolHost } from "../../../support/tool-host.ts";

describe("Japanese voices", () => {
  const host = duringSuite(openToolHost);
  let engine: Engine;
  /** What the dictionary was asked for. It fails for 故障. */
  const asked: string[] = [];
  before(async () => {
    const japanese = {
      read: async (texts: readonly string[]) => {
        asked.push(...texts);
        if (texts.some((text) => text.includes("故障"))) throw new Unavailable("broken", 2);
        return new Map<string, never[]>();
      },
      close: async () => undefined,
    };
    const [first] = await localEngines({ host, japanese });
    engine = first ?? expect.fail("no tool is installed");
  });

  const speak = (text: string, lang: string, voice: string): Promise<Buffer> =>
    say(engine, { text, ssml: false, voice, lang, prosody: normalProsody, format: "mp3" });

  it("have the dictionary in their version, and no others have", () => {
    for (const { voiceName = "", lang } of releaseSeed().systemVoices) {
      const isNamed = engine.version(voiceName).includes("ipadic");
      expect(isNamed, voiceName).to.equal(/^espeak:/.test(voiceName) && lang === "ja-JP");
    }
  });

  it("never speak a text without its readings: it fails and may be repeated", async () => {
    expect(await rejection(speak("故障です", "ja-JP", "espeak:jpx/ja"))).to.be.instanceOf(Unavailable);
    expect(await rejection(speak("Say 故障です", "en-US", "espeak:gmw/en-US"))).to.be.instanceOf(Unavailable);
    expect(await speak("天気です", "ja-JP", "espeak:jpx/ja")).not.to.have.length(0);
  });

  it("alone ask the dictionary, and only for kanji, は and へ", async () => {
    asked.length = 0;
    await speak("你好，世界", "zh-CN", "espeak:sit/cmn");
    await speak("Hello, world", "en-US", "espeak:gmw/en-US");
    await speak("テンキです 😀 ABC 12", "ja-JP", "espeak:jpx/ja");
    expect(asked).to.deep.equal([]);
    await speak("Say 東京です now", "en-US", "flite:slt");
    expect(asked).to.deep.equal(["東京です "]);
  });
});
