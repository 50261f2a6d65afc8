import { expect } from "chai";
import { createPartSpeaker, type PartSpeaker } from "../../../src/application/articles/part-speaker.ts";
import type { SpokenPart } from "../../../src/application/articles/planned-part.ts";
import { type Audio, audioOf } from "../../../src/audio/pipeline/audio.ts";
import { EngineFailed, Forbidden, NothingToSpeak, Unavailable } from "../../../src/domain/errors.ts";
import { renditionOf } from "../../audio/pipeline/renditions.ts";
import { createManualTime, type ManualTime, until } from "../../support/manual-time.ts";
import { testPrincipal } from "../../support/principal.ts";

const partOf = (text: string): SpokenPart => {
  const rendition = renditionOf(text);
  const plan = {
    characters: text.length,
    muted: false,
    renditions: [rendition] as const,
    catalogRevision: "1",
    shared: true,
  };
  return { plan, renditions: plan.renditions };
};
const textOf = ({ renditions: [{ recipe }] }: SpokenPart): string => recipe.text;
const hashOf = ({ renditions: [{ hash }] }: SpokenPart): string => hash;

describe("the parts of articles", () => {
  let time: ManualTime;
  let speaker: PartSpeaker;
  /** The texts of which the engine has begun to speak, and those that it speaks. */
  let begun: string[];
  let running: Map<string, PromiseWithResolvers<Audio>>;
  let isActive: boolean;
  let failed: [string, unknown][];
  /** The void of a part that has failed. */
  let settling: Promise<void> | undefined;

  beforeEach(() => {
    time = createManualTime();
    begun = [];
    running = new Map();
    isActive = true;
    failed = [];
    settling = undefined;
    speaker = createPartSpeaker({
      pipeline: {
        stream: async () => {
          throw new Error("no test needs it");
        },
        obtain: ([first], signal) => {
          if (!first) throw new Error("no rendition");
          const { text } = first.recipe;
          begun.push(text);
          const audio = Promise.withResolvers<Audio>();
          running.set(text, audio);
          signal.addEventListener("abort", () => audio.reject(signal.reason));
          return audio.promise.finally(() => running.delete(text));
        },
      },
      findActiveKey: () => (isActive ? testPrincipal() : undefined),
      time,
    });
  });

  const speak = (texts: string, apiKey = "k"): Promise<void> =>
    speaker.speak({
      apiKey,
      parts: [...texts].map(partOf),
      onFailed: async (part, error) => {
        failed.push([textOf(part), error]);
        await settling;
      },
    });
  const end = (text: string, rendition = renditionOf(text)): void =>
    running
      .get(text)
      ?.resolve(
        audioOf(rendition, { bytes: Buffer.from("x"), length: { samples: 1, sampleRate: 1 } }, "miss"),
      );
  const fail = (text: string, error: Error): void => running.get(text)?.reject(error);
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  };

  it("are spoken in order: the first one alone, the others two at a time", async () => {
    const spoken = speak("abcde");
    await turns();
    expect(begun.join("")).to.equal("a");
    for (const [text, next] of [
      ["a", "abc"],
      ["c", "abcd"],
      ["b", "abcde"],
    ] as const) {
      end(text);
      await turns();
      expect(begun.join("")).to.equal(next);
    }
    for (const text of "de") end(text);
    await spoken;
    expect(failed).to.deep.equal([]);
  });

  it("of one key take turns, four at a time; those of other keys do not wait for them", async () => {
    for (const texts of ["abA", "cdC", "efE"]) {
      void speak(texts);
      await turns();
      end(texts.charAt(0));
      await turns();
    }
    void speak("z", "other");
    await turns();
    expect([...running.keys()].toSorted().join("")).to.equal("ACbdz");
    end("b");
    await turns();
    expect([...running.keys()].toSorted().join("")).to.equal("ACdfz");
  });

  it("that are the first of their articles wait for two other first ones at most", async () => {
    for (const texts of ["abA", "cdC", "efE"]) {
      void speak(texts);
      await turns();
      end(texts.charAt(0));
      await turns();
    }
    for (const text of "xyz") void speak(text);
    await turns();
    expect([...running.keys()].toSorted().join("")).to.equal("ACbdxy");
    end("x");
    await turns();
    expect([...running.keys()].toSorted().join("")).to.equal("ACbdyz");
  });

  it("end for those who wait when they are spoken or have failed", async () => {
    void speak("ab");
    const [a, b] = [partOf("a"), partOf("b")].map((part) => speaker.ended(hashOf(part)));
    expect(speaker.ended(hashOf(partOf("c")))).to.equal(undefined);
    await turns();
    end("a");
    await a;
    await turns();
    fail("b", new EngineFailed("no"));
    await b;
    expect(speaker.ended(hashOf(partOf("b")))).to.equal(undefined);
    expect(failed.map(([text]) => text)).to.deep.equal(["b"]);
    expect(speaker.refusal(hashOf(partOf("b")))).to.equal(undefined);
  });

  it("that wait for several keys are spoken in the queue of each, and end with the last", async () => {
    const apart = speak("abcd");
    const other = speak("d", "other");
    await turns();
    expect(begun).to.have.members(["a", "d"]);
    const { hash } = renditionOf("d");
    expect(["k", "other", "third"].map((key) => speaker.isWaitingFor(hash, key))).to.deep.equal([
      true,
      true,
      false,
    ]);
    end("d");
    await other;
    expect(speaker.isWaitingFor(hash, "other")).to.equal(false);
    expect(speaker.ended(hash)).not.to.equal(undefined);
    for (const text of "abcd") {
      await until(() => running.has(text));
      end(text);
    }
    await apart;
    expect(speaker.ended(hash)).to.equal(undefined);
  });

  it("are tried five times while the service is overloaded", async () => {
    const spoken = speak("a");
    for (let attempt = 1; attempt <= 5; attempt++) {
      await until(() => running.has("a"));
      fail("a", new Unavailable("full", 1));
      await until(() => time.waiting() > 0 || failed.length > 0);
      time.advance(5_000);
    }
    await spoken;
    expect(begun).to.have.length(5);
    expect(failed).to.have.length(1);
  });

  it("are not spoken again if their text is at fault", async () => {
    const spoken = speak("a");
    await turns();
    fail("a", new NothingToSpeak());
    await spoken;
    expect(speaker.refusal(hashOf(partOf("a")))).to.be.instanceOf(NothingToSpeak);
  });

  it("are replaced for a minute by those of another voice, if their own fails", async () => {
    const spoken = speak("a");
    await turns();
    const other = renditionOf("a", { engine: "g2" });
    end("a", other);
    await spoken;
    expect(speaker.fallback(hashOf(partOf("a")))).to.equal(other);
    time.advance(60_000);
    expect(speaker.fallback(hashOf(partOf("a")))).to.equal(undefined);
  });

  it("are not spoken for a key that is suspended meanwhile", async () => {
    const spoken = speak("abc");
    await turns();
    isActive = false;
    end("a");
    await spoken;
    expect(begun).to.deep.equal(["a"]);
    expect(failed.map(([text, error]) => [text, error instanceof Forbidden])).to.deep.equal([
      ["b", true],
      ["c", true],
    ]);
  });

  it("of a suspended key fail two at a time, each after the void of an earlier one", async () => {
    isActive = false;
    const settled = Promise.withResolvers<void>();
    settling = settled.promise;
    const spoken = speak("abcdef");
    await turns();
    expect(failed.map(([text]) => text)).to.deep.equal(["a"]);
    settling = new Promise(() => {});
    settled.resolve();
    await turns();
    expect(failed.map(([text]) => text)).to.deep.equal(["a", "b", "c"]);
    await speaker.close(); // which waits for no void
    await spoken;
    expect(failed).to.have.length(6);
  });

  it("fail at the shutdown if they are not spoken, and their articles with them", async () => {
    void speak("abc");
    await turns();
    await speaker.close();
    expect(failed.map(([text]) => text)).to.deep.equal(["a", "b", "c"]);
  });
});
