import type { Engine } from "../../engines/engine.ts";
import type { Meters } from "../meters.ts";
import { beginWork, followed } from "../work.ts";

/** A synthesis lasts until the last of its sound has been read: the waiting for turns, and for a slow reader, is in it. */
export const observedEngine = (meters: Meters) => {
  const duration = meters.histogram("engineDuration");
  const firstByte = meters.histogram("engineFirstByte");

  return (engine: Engine): Engine => {
    const { code } = engine;
    return {
      ...engine,
      synthesize: async (request, signal) => {
        const work = beginWork({
          name: `speak ${code}`,
          attributes: { "voxledger.engine": code, "voxledger.ssml": request.ssml },
          signal,
          onBegun: (seconds) => firstByte(seconds, { engine: code }),
          onEnded: (outcome, seconds) => duration(seconds, { engine: code, outcome }),
        });
        try {
          const { encoding, audio } = await work.run(() => engine.synthesize(request, signal));
          return { encoding, audio: followed(audio, work) };
        } catch (error) {
          work.failed(error);
          throw error;
        }
      },
    };
  };
};
