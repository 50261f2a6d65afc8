import type { Encoder } from "../../audio/formats/encoder.ts";
import type { Instruments } from "../meters.ts";
import { startOperation, trackStream } from "../work.ts";

/** What fails before the encoder is not the encoder's failure: its work is given up, and whoever gave the samples tells. */
export const instrumentEncoder = (meters: Instruments) => {
  const duration = meters.histogram("encoderDuration");

  return (encoder: Encoder): Encoder => ({
    ...encoder,
    encode: (format, sampleRate, pcm, signal, claim) => {
      const work = startOperation({
        name: `encode ${format}`,
        attributes: { "voxledger.format": format, "voxledger.sample_rate": sampleRate },
        signal,
        onEnd: (outcome, seconds) => duration(seconds, { format, outcome }),
      });
      return trackStream(
        work.run(() => encoder.encode(format, sampleRate, orElse(pcm, work.abandon), signal, claim)),
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
