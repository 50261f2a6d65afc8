import { expect } from "chai";
import { EngineFailed, Invalid } from "../../src/domain/errors.ts";
import { type ProsodyParameter, prosodyParameters } from "../../src/domain/synthesis/speech.ts";
import type { Engine, SpeechRequest } from "../../src/engines/engine.ts";
import { collect } from "../support/collect.ts";
import { rejection } from "../support/rejection.ts";

export interface EngineSetup {
  readonly engine: Engine;
  /** A sentence in a voice of this engine, with default prosody. */
  readonly request: SpeechRequest;
  /** A text long enough that its audio starts before its synthesis ends. */
  readonly longText: string;
  /** A text without anything to pronounce. */
  readonly unspeakable: string;
  /** Resolves when the engine has no process and no connection left. */
  idle(): Promise<void>;
  end(): Promise<void>;
}

const never = new AbortController().signal;

/** A non-default value for each prosody parameter. */
const turned: Readonly<Record<ProsodyParameter, number>> = { pitch: 1.4, rate: 1.5, volume: 0.4 };

export const say = async (engine: Engine, request: SpeechRequest): Promise<Buffer> =>
  Buffer.concat(await collect((await engine.synthesize(request, never)).audio));

/** The rules of the port (src/engines/engine.ts), for every engine. */
export const engineContract = (name: string, setUp: () => Promise<EngineSetup>): void => {
  describe(`the engine: ${name}`, () => {
    let setup: EngineSetup;
    let engine: Engine;
    let request: SpeechRequest;
    let spoken: Promise<Buffer> | undefined;
    /** The audio of the request, synthesized once. */
    const sound = (): Promise<Buffer> => {
      spoken ??= say(engine, request);
      return spoken;
    };

    before(async () => {
      setup = await setUp();
      ({ engine, request } = setup);
    });
    after(() => setup.end());

    it("has a version that identifies what its bytes depend on", () => {
      expect(engine.version(request.voice)).to.match(/\S/);
    });

    it("returns audio with its encoding", async () => {
      const { encoding, audio } = await engine.synthesize(request, never);
      expect(Buffer.concat(await collect(audio)).length).to.be.above(1000);
      if (encoding.kind === "pcm") expect(encoding.sampleRate).to.be.within(8000, 48_000);
      else expect(encoding.format).to.equal(request.format);
    });

    it("returns the same audio for the same request", async () => {
      expect((await say(engine, request)).equals(await sound())).to.equal(true);
    });

    it("lists the prosody parameters that it applies in their stable order", () => {
      const applied = engine.prosody(request.voice);
      expect(applied).to.deep.equal(prosodyParameters.filter((parameter) => applied.includes(parameter)));
    });

    for (const parameter of prosodyParameters) {
      it(`changes the audio with ${parameter} if and only if it lists that parameter`, async () => {
        const prosody = { ...request.prosody, [parameter]: turned[parameter] };
        const same = (await say(engine, { ...request, prosody })).equals(await sound());
        expect(same).to.equal(!engine.prosody(request.voice).includes(parameter));
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

    it("rejects a text without anything to pronounce as invalid", async () => {
      const failure = await rejection(say(engine, { ...request, text: setup.unspeakable }));
      expect(failure).to.be.instanceOf(Invalid);
      expect((failure as Invalid).problems.map(({ path }) => path)).to.deep.equal([["text"]]);
    });

    it("throws the signal's reason when it is already aborted", async () => {
      const reason = new Error("the caller left");
      expect(await rejection(engine.synthesize(request, AbortSignal.abort(reason)))).to.equal(reason);
    });

    it("stops at once and throws the signal's reason when it is aborted midway", async () => {
      const controller = new AbortController();
      const reason = new Error("the caller left");
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
