import type { SpeechRequest } from "../../src/engines/engine.ts";
import type { LocalTool } from "../../src/engines/local/local-tool.ts";
import type { SpeechEvent } from "../../src/subprocess/espeak.ts";
import { speakInProcess } from "../../src/subprocess/speech/speak-in-process.ts";
import { singlePieceJob } from "../../src/subprocess/speech/speech-job.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";

export interface PieceSpeech {
  readonly sampleRate: number;
  /** The tool's own samples. */
  readonly pcm: Buffer;
  readonly events: readonly SpeechEvent[];
}

/**
 * Resolves with the speech of a tool for a text.
 * @throws as `ask` and `synthesize`
 */
export const speakByTool = async (
  host: Pick<SubprocessHost, "synthesize">,
  tool: LocalTool,
  request: SpeechRequest,
  signal = new AbortController().signal,
): Promise<PieceSpeech> => {
  const { job, start, placed = (events) => events } = tool.pieceFor(request);
  const audio = host.synthesize(singlePieceJob(job, start), signal);
  const chunks: Buffer[] = [];
  let part = await audio.next();
  for (; !part.done; part = await audio.next()) chunks.push(part.value);
  const wav = Buffer.concat(chunks);
  const { pieces } = part.value;
  return {
    sampleRate: wav.readUInt32LE(24),
    pcm: wav.subarray(44),
    events: placed(pieces[0]?.events ?? []),
  };
};

/**
 * The host, whose texts are spoken in this process, piece by piece, by its `run`, `speak` and
 * `speakByModel`, which tests replace. Their audio is samples, whatever their format is.
 */
export const speakingPieces = (host: SubprocessHost): SubprocessHost => ({
  ...host,
  synthesize: speakInProcess(async function* (job, signal, isContinuation, onEnd) {
    let events: readonly SpeechEvent[] | undefined;
    let cpuMs = 0;
    const slotOptions = {
      isContinuation,
      onCpuTime: (ms: number): void => {
        cpuMs += ms;
      },
    };
    const onEvents = (all: readonly SpeechEvent[]): void => {
      events = all;
    };
    if (job.type === "tool") {
      const { type: _, ...asked } = job;
      yield* host.run(asked, signal, slotOptions);
    } else if (job.type === "espeak") yield* host.speak({ ...job, onEvents }, signal, slotOptions);
    else yield* host.speakByModel({ ...job, onEvents }, signal, slotOptions);
    onEnd({ events, cpuMs });
  }),
});
