import type { Encoder } from "../../audio/encoder.ts";
import type { Meters } from "../meters.ts";
import { beginWork, followed } from "../work.ts";

export const observedEncoder = (meters: Meters) => {
  const duration = meters.histogram("encoderDuration");

  return (encoder: Encoder): Encoder => ({
    ...encoder,
    encode: (format, sampleRate, pcm, signal) => {
      const work = beginWork({
        name: `encode ${format}`,
        attributes: { "voxledger.format": format, "voxledger.sample_rate": sampleRate },
        signal,
        onEnded: (outcome, seconds) => duration(seconds, { format, outcome }),
      });
      return followed(
        work.run(() => encoder.encode(format, sampleRate, pcm, signal)),
        work,
      );
    },
  });
};
