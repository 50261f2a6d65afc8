import type { Encoder } from "../../../src/audio/formats/encoder.ts";
import { ffmpegEncoder } from "../../../src/audio/formats/ffmpeg-encoder.ts";
import type { Engine, SpeechRequest } from "../../../src/engines/engine.ts";
import { localEngines } from "../../../src/engines/local/engine.ts";
import { encodeSilence } from "../../support/encode-silence.ts";
import { openToolHost } from "../../support/tool-host.ts";

/** The real espeak-ng and the real ffmpeg. */
export interface RealTools {
  readonly engine: Engine;
  readonly encoder: Encoder;
  /** The helper's process id. */
  helper(): number;
  /** Processes that are at work. */
  running(): number;
  close(): Promise<void>;
}

export const openRealTools = async (): Promise<RealTools> => {
  const host = await openToolHost({ encodersAhead: { mp3: 1, ogg: 0 } });
  await encodeSilence(host, "mp3");
  const [engine] = await localEngines({ host });
  if (!engine) throw new Error("espeak-ng is not installed.");
  return {
    engine,
    encoder: ffmpegEncoder(host),
    helper: () => host.stats().pid ?? 0,
    running: () => host.stats().running,
    close: () => host.close(),
  };
};

/**
 * Records the requests to an engine and reports each call and its first chunk. Its audio has no
 * marks, which would be stored as objects of their own.
 */
export interface Observed extends Engine {
  readonly requests: SpeechRequest[];
  onAsk: () => void;
  onSound: () => void;
}

export const observed = (engine: Engine): Observed => {
  const shown: Observed = {
    ...engine,
    requests: [],
    onAsk: () => undefined,
    onSound: () => undefined,
    synthesize: async (request, signal) => {
      shown.requests.push(request);
      shown.onAsk();
      const { encoding, audio, encoded } = await engine.synthesize(request, signal);
      const watched = async function* () {
        let started = false;
        for await (const chunk of audio) {
          if (!started) shown.onSound();
          started = true;
          yield chunk;
        }
      };
      return { encoding, audio: watched(), ...(encoded && { encoded }) };
    },
  };
  return shown;
};
