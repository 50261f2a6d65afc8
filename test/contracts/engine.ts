import { expect } from "chai";
import { EngineFailed, Invalid } from "../../src/domain/errors.ts";
import { type Knob, knobs } from "../../src/domain/synthesis/speech.ts";
import type { Engine, SpeechRequest } from "../../src/engines/engine.ts";
import { collect } from "../support/collect.ts";
import { rejection } from "../support/rejection.ts";

export interface EngineSetup {
  readonly engine: Engine;
  /** A sentence in a voice that it has, with normal prosody. */
  readonly request: SpeechRequest;
  /** A text that it has not said whole before the first of its sound is there. */
  readonly longText: string;
  /** A text of which it makes no sound. */
  readonly unspeakable: string;
  /** Answers when nothing works for it any more: no process, no connection. */
  idle(): Promise<void>;
  end(): Promise<void>;
}

const never = new AbortController().signal;

/** What is not normal, for each knob. */
const turned: Readonly<Record<Knob, number>> = { pitch: 1.4, rate: 1.5, volume: 0.4 };

export const say = async (engine: Engine, request: SpeechRequest): Promise<Buffer> =>
  Buffer.concat(await collect((await engine.synthesize(request, never)).audio));

/** Every sentence of the port (src/engines/engine.ts), for every engine. */
export const engineContract = (name: string, setUp: () => Promise<EngineSetup>): void => {
  describe(`the engine: ${name}`, () => {
    let setup: EngineSetup;
    let engine: Engine;
    let request: SpeechRequest;

    before(async () => {
      setup = await setUp();
      ({ engine, request } = setup);
    });
    after(() => setup.end());

    it("says what its bytes depend on", () => {
      expect(engine.version(request.voice)).to.match(/\S/);
    });

    it("gives sound, and says what kind of sound it is", async () => {
      const { encoding, audio } = await engine.synthesize(request, never);
      expect(Buffer.concat(await collect(audio)).length).to.be.above(1000);
      if (encoding.kind === "pcm") expect(encoding.sampleRate).to.be.within(8000, 48_000);
      else expect(encoding.format).to.equal(request.format);
    });

    it("says the same request the same way", async () => {
      const first = await say(engine, request);
      expect(first.equals(await say(engine, request))).to.equal(true);
    });

    it("tells the knobs that it applies in their stable order", () => {
      const told = engine.prosody(request.voice);
      expect(told).to.deep.equal(knobs.filter((knob) => told.includes(knob)));
    });

    for (const knob of knobs) {
      it(`lets ${knob} change the sound when it tells that it applies it, and only then`, async () => {
        const prosody = { ...request.prosody, [knob]: turned[knob] };
        const same = (await say(engine, request)).equals(await say(engine, { ...request, prosody }));
        expect(same).to.equal(!engine.prosody(request.voice).includes(knob));
      });
    }

    it("fails with a message for a voice that it does not have", async () => {
      const voices = [
        "",
        "nobody",
        `${request.voice}/../nobody`,
        `--help ${request.voice}`,
        `${request.voice}\0`,
      ];
      for (const voice of voices) {
        expect(await rejection(say(engine, { ...request, voice })), voice).to.be.instanceOf(EngineFailed);
        expect(engine.prosody(voice)).to.deep.equal([]);
        expect(engine.takesSsml(voice)).to.equal(false);
      }
    });

    it("calls a text invalid in which nobody could find anything to say", async () => {
      const failure = await rejection(say(engine, { ...request, text: setup.unspeakable }));
      expect(failure).to.be.instanceOf(Invalid);
      expect((failure as Invalid).problems.map(({ path }) => path)).to.deep.equal([["text"]]);
    });

    it("throws the signal's reason when it is aborted before it begins", async () => {
      const reason = new Error("nobody wants it");
      expect(await rejection(engine.synthesize(request, AbortSignal.abort(reason)))).to.equal(reason);
    });

    it("stops at once and throws the signal's reason when it is aborted midway", async () => {
      const controller = new AbortController();
      const reason = new Error("nobody wants it any more");
      const { audio } = await engine.synthesize({ ...request, text: setup.longText }, controller.signal);
      const listening = audio[Symbol.asyncIterator]();
      await listening.next();
      controller.abort(reason);
      const rest = async () => {
        while (!(await listening.next()).done);
      };
      expect(await rejection(rest())).to.equal(reason);
      await setup.idle();
    });
  });
};
