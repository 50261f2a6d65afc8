import type { Pipeline, Rendition } from "../../audio/pipeline/pipeline.ts";
import type { Provenance } from "../../domain/usage/usage.ts";
import { withSpan } from "../spans.ts";

/** The store's reads, the engine and the encoder are told under the request that they are done for. */
export const instrumentPipeline = (pipeline: Pipeline): Pipeline => ({
  ...pipeline,
  obtain: (takes, signal, apiKey) => obtained(takes, signal, () => pipeline.obtain(takes, signal, apiKey)),
  stream: (takes, signal, apiKey) => obtained(takes, signal, () => pipeline.stream(takes, signal, apiKey)),
});

const obtained = <T extends { provenance: Provenance; failed: readonly string[] }>(
  [take]: readonly Rendition[],
  signal: AbortSignal,
  obtain: () => Promise<T>,
): Promise<T> =>
  withSpan(
    "obtain sound",
    take ? { "voxledger.engine": take.recipe.engine, "voxledger.format": take.recipe.format } : {},
    async (span) => {
      const sound = await obtain();
      const { provenance, failed } = sound;
      span?.setAttributes({ "voxledger.provenance": provenance, "voxledger.failed_voices": failed.length });
      return sound;
    },
    signal,
  );
