import { expect } from "chai";
import { type Articles, createArticles } from "../../../src/application/articles/articles.ts";
import { createPartSpeaker, type PartSpeaker } from "../../../src/application/articles/part-speaker.ts";
import type { SynthesisRequest } from "../../../src/application/synthesis/planner.ts";
import { type Audio, audioOf, type Rendition } from "../../../src/audio/pipeline/audio.ts";
import { EngineFailed, SpeechTooLong, Unavailable, Unpronounceable } from "../../../src/domain/errors.ts";
import type { OpenLedger } from "../../../src/ledger/open-ledger.ts";
import { type Limits, limits, RateLimited } from "../../../src/limits/limits.ts";
import { renditionOf } from "../../audio/pipeline/renditions.ts";
import { duringTest } from "../../support/during.ts";
import { createManualTime, until } from "../../support/manual-time.ts";
import { testPrincipal } from "../../support/principal.ts";
import { rejection } from "../../support/rejection.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { openTestLedger, readLedger } from "../../support/test-ledger.ts";
import { testLimits } from "../../support/test-limits.ts";

const start = Date.parse("2026-11-21T10:00:00.000Z");
const principal = testPrincipal();
const bytes = Buffer.from("audio");
const length = { samples: 8_000, sampleRate: 8_000 };

describe("the articles of a website", () => {
  const temporary = duringTest(openTemporaryStore);
  let opened: OpenLedger;
  let articles: Articles;
  let speaker: PartSpeaker;
  /** The audio of the texts that the engine has spoken. */
  let stored: Map<string, Audio>;
  /** What the engine does with a text. */
  let speakText: (rendition: Rendition) => Promise<Audio>;
  let serial: number;

  beforeEach(async () => {
    serial = 0;
    stored = new Map();
    speakText = async (rendition) => audioOf(rendition, { bytes, length }, "miss");
    opened = await openTestLedger(temporary.store, () => start, {
      onError: () => {},
    });
    ({ speaker, articles } = open());
  });
  afterEach(async () => {
    await articles.close();
    await opened.close(0);
  });

  /** Articles of a process, which remembers nothing of the others. */
  const open = (
    speak = (rendition: Rendition) => speakText(rendition),
    limits: Pick<Limits, "articles" | "departures"> = testLimits(),
  ) => {
    const speaker = createPartSpeaker({
      pipeline: {
        stream: async () => {
          throw new Error("no test needs it");
        },
        obtain: async ([first], signal) => {
          const audio = await speak(first as Rendition);
          signal.throwIfAborted();
          stored.set(audio.hash, audio);
          return audio;
        },
      },
      findActiveKey: () => principal,
      time: createManualTime(),
    });
    const articles = createArticles({
      ...limits,
      plan: ({ text }: SynthesisRequest) => ({
        characters: text.length,
        muted: false,
        renditions: [renditionOf(text)],
        catalogRevision: "1",
        shared: true,
      }),
      ledger: opened.ledger,
      pipeline: {
        statRendition: async (rendition) =>
          stored.has(rendition.hash) ? { rendition, source: "store", size: bytes.length, length } : undefined,
      },
      speaker,
      clock: () => start,
    });
    return { speaker, articles };
  };

  const prosody = { pitch: 1, rate: 1, volume: 1 };
  const prepare = (texts: readonly string[], of = articles) =>
    of.prepare(
      principal,
      `r-${serial++}`,
      texts.map((text, index) => ({ id: String(index), request: { text, prosody } })),
    );
  const statesOf = async (texts: readonly string[]) => (await prepare(texts)).parts.map(({ state }) => state);
  const ended = async (texts: readonly string[]): Promise<void> => {
    for (const text of texts) await speaker.ended(renditionOf(text).hash);
    await opened.drained();
  };
  /** The servings of a text, and their voids. */
  const recorded = async (text: string): Promise<[servings: number, voids: number]> => {
    const { hash } = renditionOf(text);
    const { servings, voided } = await readLedger(temporary.store);
    const isOf = (one: { readonly hash: string }) => one.hash === hash;
    return [servings.filter(isOf).length, voided.filter(isOf).length];
  };

  it("are recorded before an engine works, with the number of each part in its request id", async () => {
    const speaking = Promise.withResolvers<Audio>();
    speakText = () => speaking.promise;
    expect(await statesOf(["One.", "Two.", "One."])).to.deep.equal(["pending", "pending", "pending"]);
    const { servings } = await readLedger(temporary.store);
    expect(servings.map(({ requestId, cached }) => [requestId, cached])).to.have.deep.members([
      ["r-0-1", "miss"],
      ["r-0-2", "miss"],
    ]);
    speaking.reject(new EngineFailed("over"));
  });

  it("are charged for parts whose audio exists already, which are ready at once", async () => {
    const audio = audioOf(renditionOf("Known."), { bytes, length }, "miss");
    stored.set(audio.hash, audio);
    expect(await statesOf(["Known."])).to.deep.equal(["ready"]);
    const { servings } = await readLedger(temporary.store);
    expect(servings.map(({ cached }) => cached)).to.deep.equal(["store"]);
  });

  it("take neither a read nor an append of the ledger when they are repeated", async () => {
    await prepare(["One.", "Two."]);
    await ended(["One.", "Two."]);
    await opened.close(5_000);
    expect(await statesOf(["One.", "Two."])).to.deep.equal(["ready", "ready"]);
  });

  it("are voided for a failure of the service, and charged at the next request", async () => {
    speakText = async () => {
      throw new EngineFailed("the tool crashed");
    };
    await prepare(["Fails."]);
    await ended(["Fails."]);
    await until(() => opened.ledger.backgroundEntries === 0);
    speakText = async (rendition) => audioOf(rendition, { bytes, length }, "miss");
    expect(await statesOf(["Fails."])).to.deep.equal(["pending"]);
    await ended(["Fails."]);
    expect(await recorded("Fails.")).to.deep.equal([2, 1]);
  });

  it("stay charged for a failure, if another process speaks the part on the same charge", async () => {
    const speaking = Promise.withResolvers<Audio>();
    speakText = () => speaking.promise;
    await prepare(["Shared."]);
    const other = open(async (rendition) => audioOf(rendition, { bytes, length }, "miss"));
    await prepare(["Shared."], other.articles);
    await other.speaker.ended(renditionOf("Shared.").hash);
    speaking.reject(new EngineFailed("the tool crashed"));
    await ended(["Shared."]);
    await until(() => opened.ledger.backgroundEntries === 0);
    expect(await recorded("Shared.")).to.deep.equal([1, 0]);
  });

  it("are charged in every process for a part whose charge another one has voided", async () => {
    const speaking = Promise.withResolvers<Audio>();
    speakText = () => speaking.promise;
    await prepare(["Voided."]);
    const other = open();
    stored.set(renditionOf("Voided.").hash, audioOf(renditionOf("Voided."), { bytes, length }, "miss"));
    await prepare(["Voided."], other.articles); // it remembers the charge
    stored.clear();
    speaking.reject(new EngineFailed("the tool crashed"));
    await ended(["Voided."]);
    await until(() => opened.ledger.backgroundEntries === 0);
    await prepare(["Voided."], other.articles);
    expect(await recorded("Voided.")).to.deep.equal([2, 1]);
  });

  it("are voided at the shutdown for parts that are not spoken", async () => {
    const speaking = Promise.withResolvers<Audio>();
    speakText = () => speaking.promise;
    await prepare(["One.", "Two."]);
    const closed = articles.close();
    speaking.resolve(audioOf(renditionOf("One."), { bytes, length }, "miss"));
    await closed;
    await opened.close(5_000);
    for (const text of ["One.", "Two."]) expect(await recorded(text)).to.deep.equal([1, 1]);
  });

  it("are silent in parts of which the voice can speak nothing, and are not charged for them", async () => {
    speakText = async () => {
      throw new Unpronounceable();
    };
    expect(await statesOf(["Unspeakable."])).to.deep.equal(["pending"]);
    await ended(["Unspeakable."]);
    const { parts, characters } = await prepare(["Unspeakable."]);
    expect(parts[0]).to.include({ state: "silent", characters: 0 });
    expect(characters).to.equal(0);
    await until(() => opened.ledger.backgroundEntries === 0);
    expect(await recorded("Unspeakable.")).to.deep.equal([1, 1]);
  });

  it("are charged once for a part that takes too long to speak, and try it once", async () => {
    let tries = 0;
    speakText = async () => {
      tries++;
      throw new SpeechTooLong();
    };
    await prepare(["Too long."]);
    await ended(["Too long."]);
    expect(await statesOf(["Too long."])).to.deep.equal(["failed"]);
    expect([tries, ...(await recorded("Too long."))]).to.deep.equal([1, 1, 0]);
  });

  it("are charged each time that a voice tries a text at fault, after ten tries that are free", async () => {
    const tooLong = async (): Promise<never> => {
      throw new SpeechTooLong();
    };
    const limits = testLimits();
    for (let n = 0; n < 1 + 10 + 2; n++) {
      const process = open(tooLong, limits);
      await prepare(["Too long."], process.articles);
      await process.speaker.ended(renditionOf("Too long.").hash);
    }
    await opened.close(5_000);
    expect(await recorded("Too long.")).to.deep.equal([1 + 2, 0]);
  });

  it("have the address of the voice that replaced another one", async () => {
    const other = renditionOf("Replaced.", { engine: "g2" });
    speakText = async () => audioOf(other, { bytes, length }, "miss");
    await prepare(["Replaced."]);
    await ended(["Replaced."]);
    const { parts } = await prepare(["Replaced."]);
    expect(parts[0]).to.include({ state: "ready", rendition: other });
  });

  it("are refused above a number per key, before a charge, while others are spoken", async () => {
    const speaking = Promise.withResolvers<Audio>();
    speakText = () => speaking.promise;
    const { atMost } = limits.articles;
    for (let n = 0; n < atMost; n++) await prepare([`Article ${n}.`]);
    expect(await rejection(prepare(["One too many."]))).to.be.instanceOf(RateLimited);
    expect(await recorded("One too many.")).to.deep.equal([0, 0]);
    expect(await statesOf(["Article 0."])).to.deep.equal(["pending"]); // which needs nothing new
    speaking.reject(new Unavailable("over", 0));
  });
});
