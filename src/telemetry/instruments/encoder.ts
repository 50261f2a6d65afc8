import type { Encoder } from "../../audio/formats/encoder.ts";
import type { Meters } from "../meters.ts";
import { beginWork, followed } from "../work.ts";

/** What fails before the encoder is not the encoder's failure: its work is given up, and whoever gave the samples tells. */
export const observedEncoder = (meters: Meters) => {
  const duration = meters.histogram("encoderDuration");

  return (encoder: Encoder): Encoder => ({
    ...encoder,
    encode: (format, sampleRate, pcm, signal, claim) => {
      const work = beginWork({
        name: `encode ${format}`,
        attributes: { "voxledger.format": format, "voxledger.sample_rate": sampleRate },
        signal,
        onEnded: (outcome, seconds) => duration(seconds, { format, outcome }),
      });
      return followed(
        work.run(() => encoder.encode(format, sampleRate, orElse(pcm, work.left), signal, claim)),
        work,
      );
    },
  });
};

async function* orElse(chunks: AsyncIterable<Buffer>, onFailure: () => void): AsyncGenerator<Buffer, void> {
  try {
    yield* chunks;
  } catch (error) {
    onFailure();
    throw error;
  }
}
