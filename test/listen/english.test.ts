import { expect } from "chai";
import { normalProsody } from "../../src/domain/synthesis/speech.ts";
import { localEngines } from "../../src/engines/local/engine.ts";
import { collect } from "../support/collect.ts";
import { itSpeaksTheSame, localVoiceOf } from "../support/same-sound.ts";
import { openToolHost } from "../support/tool-host.ts";
import { wordAt } from "../support/word-at.ts";
import { american, british, english } from "./english.ts";

describe("English as people write it", () => {
  const everywhere = Object.values(english).flat();
  itSpeaksTheSame("en-GB", [...everywhere, ...british]);
  itSpeaksTheSame("en-US", american);
  itSpeaksTheSame("en-US", [...everywhere, ...american], "flite");

  it("has one mark for each written word, however many words are spoken for it", async () => {
    const host = await openToolHost();
    try {
      const [engine] = await localEngines({ host });
      const text =
        "Pay £5.50 on 2026-11-26 at 3pm to Dr. Smith, e.g. at https://example.com/pay 😀 or by 1,234 m².";
      const request = {
        text,
        ssml: false,
        voice: localVoiceOf("en-GB"),
        lang: "en-GB",
        prosody: normalProsody,
      } as const;
      const speech = await engine?.synthesize({ ...request, format: "wav" }, new AbortController().signal);
      if (!speech) throw new Error("No tool is installed.");
      await collect(speech.audio);
      const words = (speech.marks?.() ?? []).filter(({ type }) => type === "word");
      expect(words.map((mark) => wordAt(text, mark))).to.deep.equal(
        "Pay|£5.50|on|2026-11-26|at|3pm|to|Dr.|Smith|e.g.|at|https://example.com/pay|😀|or|by|1,234 m²".split(
          "|",
        ),
      );
      expect(words.map(({ time }) => time)).to.deep.equal(
        words.map(({ time }) => time).toSorted((a, b) => a - b),
      );
    } finally {
      await host.close();
    }
  });
});
