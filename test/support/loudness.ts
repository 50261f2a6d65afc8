import { execFile } from "node:child_process";
import type { Sound } from "./local-voice.ts";

/**
 * The integrated loudness in LUFS and the true peak in dBTP of audio (EBU R128), by ffmpeg's
 * `ebur128`.
 */
export const measureLoudness = ({ samples, sampleRate }: Sound): Promise<{ lufs: number; peak: number }> =>
  new Promise((resolve, reject) => {
    const input = ["-f", "s16le", "-ar", String(sampleRate), "-ac", "1", "-i", "pipe:0"];
    const filter = ["-af", "ebur128=peak=true:framelog=verbose", "-f", "null", "-"];
    const child = execFile(
      "ffmpeg",
      ["-hide_banner", "-nostats", ...input, ...filter],
      (error, _, report) => {
        if (error) return reject(error);
        const summary = report.slice(report.lastIndexOf("Summary"));
        const figure = (pattern: RegExp) => Number(pattern.exec(summary)?.[1]);
        resolve({ lufs: figure(/I:\s+(-?[\d.]+)/), peak: figure(/Peak:\s+(-?[\d.]+)/) });
      },
    );
    child.stdin?.on("error", reject).end(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength));
  });
