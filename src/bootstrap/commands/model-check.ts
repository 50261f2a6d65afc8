import { createHash } from "node:crypto";
import type { CheckedModel, CheckModel } from "../../cli/commands/models.ts";
import { normalProsody } from "../../domain/synthesis/speech.ts";
import type { SpeechRequest } from "../../engines/engine.ts";
import type { LocalTool } from "../../engines/local/local-tool.ts";
import { createModelStates } from "../../engines/local/model-states.ts";
import { loadModel, sherpa } from "../../engines/local/sherpa.ts";
import { libraryVersion, missingLibrary } from "../../engines/models/library.ts";
import { readPack } from "../../engines/models/pack.ts";
import { voiceNameOf, voicesOfPacks } from "../../engines/models/voices.ts";
import type { Settings } from "../../settings/read-settings.ts";
import { singlePieceJob } from "../../subprocess/speech/speech-job.ts";
import { openSubprocessHost, type SubprocessHost } from "../../subprocess/subprocess-host.ts";

/** Most models pronounce letters and digits. */
const text = "Voxledger: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10.";

/** Checks a pack with the limits of the settings, as the service would use it. */
export const composeModelCheck =
  (readSettings: () => Settings): CheckModel =>
  async (path) => {
    const { limits } = readSettings().models;
    const library = libraryVersion();
    if (library === undefined) throw new Error(missingLibrary);
    const pack = await readPack(path);
    const host = await openSubprocessHost({ encodersAhead: {}, speakers: 0, encodesByLibrary: false });
    try {
      const start = performance.now();
      await loadModel(pack, { host, limits });
      const loadMs = performance.now() - start;
      const states = createModelStates({ warn: () => {} });
      const tool = sherpa([pack], { host, library, states, limits });
      const [first] = pack.speakers;
      if (!first) throw new Error("The model has no speaker.");
      const request: SpeechRequest = {
        ...{ text, ssml: false, lang: first.lang, prosody: normalProsody, format: "wav" },
        voice: voiceNameOf(pack, first),
      };
      const [one, two] = [await measure(host, tool, request), await measure(host, tool, request)];
      const { sampleRate } = one;
      const speech: CheckedModel["speech"] = {
        seconds: one.seconds,
        sampleRate,
        // The first synthesis also prepares memory.
        realTimeFactor: two.took / two.seconds,
        isReproducible: one.digest === two.digest,
      };
      const { name, kind, digest } = pack;
      const voices = voicesOfPacks(new Map([["g1", [pack]]])).map((voice) => ({
        name: voice.name,
        lang: voice.lang,
        gender: voice.gender,
        voiceName: voice.voiceName,
      }));
      return { name, kind, digest, library, threads: limits.threads, voices, loadMs, speech };
    } finally {
      await host.close();
    }
  };

const measure = async (host: SubprocessHost, tool: LocalTool, request: SpeechRequest) => {
  const start = performance.now();
  const { job } = tool.pieceFor(request);
  const hash = createHash("sha256");
  let sampleRate = 0;
  let bytes = 0;
  for await (const chunk of host.synthesize(singlePieceJob(job), new AbortController().signal)) {
    if (sampleRate === 0) {
      sampleRate = chunk.readUInt32LE(24); // the header of the WAV is a chunk
      continue;
    }
    hash.update(chunk);
    bytes += chunk.length;
  }
  const took = (performance.now() - start) / 1_000;
  return { sampleRate, seconds: bytes / 2 / sampleRate, took, digest: hash.digest("hex") };
};
