import type { Engine } from "../../engines/engine.ts";
import type { Instruments } from "../meters.ts";
import { startOperation, trackStream } from "../work.ts";

/** A synthesis lasts until the last of its sound has been read: the waiting for turns, and for a slow reader, is in it. */
export const instrumentEngine = (meters: Instruments) => {
  const duration = meters.histogram("engineDuration");
  const firstByte = meters.histogram("engineFirstByte");

  return (engine: Engine): Engine => {
    const { code } = engine;
    return {
      ...engine,
      synthesize: async (request, signal) => {
        const work = startOperation({
          name: `speak ${code}`,
          attributes: { "voxledger.engine": code, "voxledger.ssml": request.ssml },
          signal,
          onFirstByte: (seconds) => firstByte(seconds, { engine: code }),
          onEnd: (outcome, seconds) => duration(seconds, { engine: code, outcome }),
        });
        try {
          const { encoding, audio } = await work.run(() => engine.synthesize(request, signal));
          return { encoding, audio: trackStream(audio, work) };
        } catch (error) {
          work.fail(error);
          throw error;
        }
      },
    };
  };
};
