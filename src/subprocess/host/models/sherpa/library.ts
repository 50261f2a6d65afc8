import { createRequire } from "node:module";
import type { SherpaStart } from "../../../sherpa.ts";

/** A model that is loaded. */
export type LoadedModel = ReturnType<typeof loadModel>;

/** The part of the library's interface that is used; it has no types of its own. */
interface SherpaOnnx {
  readonly OfflineTts: new (config: object) => OfflineTts;
}

interface OfflineTts {
  readonly sampleRate: number;
  generateAsync(request: {
    readonly text: string;
    readonly sid: number;
    readonly speed: number;
    /** False: samples are copied, because Node may refuse external buffers. */
    readonly enableExternalBuffer: boolean;
  }): Promise<{ readonly samples: Float32Array }>;
}

/** Keeps the model's own pauses: by default the library shortens them to a fifth. */
const silenceScale = 1;

/**
 * Loads a model. The library ends the process if the model lacks metadata.
 * @throws if the library is not installed or refuses the model
 */
export const loadModel = ({ config, threads }: SherpaStart) => {
  const sherpa = createRequire(import.meta.url)("sherpa-onnx-node") as SherpaOnnx;
  const { model = {} } = config as { model?: object };
  const tts = new sherpa.OfflineTts({
    ...config,
    model: { ...model, numThreads: threads, provider: "cpu", debug: false },
    maxNumSentences: 1,
    silenceScale,
  });
  return {
    sampleRate: tts.sampleRate,
    /** Resolves with samples from -1 to 1; with none for a text that the model cannot pronounce. */
    speak: async (text: string, sid: number, speed: number): Promise<Float32Array> => {
      try {
        // `generate` would crash with a text that the model cannot pronounce.
        const { samples } = await tts.generateAsync({ text, sid, speed, enableExternalBuffer: false });
        return samples;
      } catch (error) {
        if (error instanceof Error && error.message.includes("produced no audio")) return new Float32Array();
        throw error;
      }
    },
  };
};
