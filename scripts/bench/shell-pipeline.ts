import { spawn } from "node:child_process";
import { once } from "node:events";

const encode = ["-hide_banner", "-loglevel", "error", "-i", "pipe:0", "-b:a", "64k", "-f", "mp3", "pipe:1"];

/** Runs `espeak-ng … | ffmpeg …` as a shell does. Resolves after the last byte. */
export const speakByShellPipeline = async (text: string, voice: string): Promise<void> => {
  const speaker = spawn("espeak-ng", ["-v", voice, "--stdin", "--stdout"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const encoder = spawn("ffmpeg", encode, { stdio: [speaker.stdout, "pipe", "inherit"] });
  speaker.stdout.destroy(); // ffmpeg owns this end of the pipe
  const ended = Promise.all([once(speaker, "close"), once(encoder, "close")]);
  speaker.stdin.end(text);
  let bytes = 0;
  encoder.stdout?.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  for (const [code] of await ended) if (code !== 0) throw new Error(`a tool ended with ${code}`);
  if (bytes === 0) throw new Error("no audio was received");
};
