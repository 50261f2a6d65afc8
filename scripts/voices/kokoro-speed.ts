import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { normalProsody } from "../../src/domain/synthesis/speech.ts";
import { kokoro } from "../../src/engines/local/kokoro.ts";
import { createModelStates } from "../../src/engines/local/model-states.ts";
import { openNaturalVoices } from "../../src/engines/natural-voices/natural-voices.ts";
import { singlePieceJob } from "../../src/subprocess/speech/speech-job.ts";
import { openSubprocessHost, type SubprocessHost } from "../../src/subprocess/subprocess-host.ts";

const sentence = "The train to Oxford leaves at nine, and it arrives before ten.";
const voice = "bf_emma";
const wavHeaderBytes = 44;

/** Measures the time, memory and disk space that Kokoro takes on this machine, in one line. */
export const kokoroSpeed = async (place: string): Promise<string> => {
  const { installed } = await openNaturalVoices(place);
  const host = await openSubprocessHost({ concurrency: 1 });
  try {
    const states = createModelStates({ warn: console.error });
    const tool = kokoro({ host, installed, states, idleMs: 60_000 });
    if (!tool?.has(voice)) throw new Error("Kokoro is not installed.");
    const speak = async (text: string): Promise<number> => {
      const request = {
        text,
        ssml: false,
        voice,
        lang: "en-GB",
        prosody: normalProsody,
        format: "wav",
      } as const;
      const { job, start } = tool.pieceFor(request);
      const wav = await buffer(host.synthesize(singlePieceJob(job, start), new AbortController().signal));
      return wav.subarray(wavHeaderBytes).length / 2 / wav.readUInt32LE(24);
    };
    await speak("Ready.");
    const startedAt = performance.now();
    const seconds = await speak(sentence);
    const factor = (performance.now() - startedAt) / 1000 / seconds;
    return `Kokoro takes ${factor.toFixed(1)} s for a second of audio on this machine, ${memoryOf(host)}${diskOf(place)} MB of disk.`;
  } finally {
    await host.close();
  }
};

const megabyte = 1e6;

/** The peak memory of the model's process, which is the largest child process of the helper. */
const memoryOf = (host: SubprocessHost): string => {
  try {
    const { pid } = host.stats();
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    const peaks = children.map((child) => {
      const [, kilobytes = "0"] =
        /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child}/status`, "utf8")) ?? [];
      return (Number(kilobytes) * 1024) / megabyte;
    });
    return `up to ${Math.round(Math.max(...peaks))} MB of memory and `;
  } catch {
    return ""; // not on Linux
  }
};

const diskOf = (place: string): number => {
  const folder = join(place, "kokoro");
  const bytes = readdirSync(folder).map((file) => statSync(join(folder, file)).size);
  return Math.round(bytes.reduce((sum, one) => sum + one, 0) / megabyte);
};
