import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readingVoice } from "../../src/engines/local/espeak.ts";

/**
 * The output of the installed tool for the text: 16-bit mono samples. `voice` as in
 * SystemVoice.voiceName.
 */
export const sayLocally = async (voice: string, text: string, options = { ssml: false }): Promise<Sound> => {
  const [tool, name] = voice.split(/:(.*)/s);
  if (name === undefined) throw new Error(`not a local voice: ${voice}`);
  return soundOf(tool === "flite" ? await flite(name, text) : await espeak(name, text, options.ssml));
};

export interface Sound {
  readonly sampleRate: number;
  readonly samples: Int16Array;
}

const espeak = (voice: string, text: string, ssml: boolean): Promise<Buffer> =>
  run("espeak-ng", ["-v", readingVoice(voice), "--stdin", "--stdout", ...(ssml ? ["-m"] : [])], text);

/** flite can neither read from one of Node's pipes nor write to one. */
const flite = async (voice: string, text: string): Promise<Buffer> => {
  const folder = await mkdtemp("/dev/shm/flite-test-");
  try {
    await writeFile(join(folder, "in.txt"), text);
    await run("flite", ["-voice", voice, "-f", join(folder, "in.txt"), "-o", join(folder, "out.wav")]);
    return await readFile(join(folder, "out.wav"));
  } finally {
    await rm(folder, { recursive: true });
  }
};

const run = (tool: string, args: readonly string[], input?: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const child = execFile(
      tool,
      args,
      { encoding: "buffer", timeout: 240_000, killSignal: "SIGKILL", maxBuffer: 64 << 20 },
      (error, stdout, stderr) =>
        error ? reject(new Error(`${tool}: ${stderr}`, { cause: error })) : resolve(stdout),
    );
    if (input === undefined)
      child.stdin?.destroy(); // the tool may have ended already
    else child.stdin?.on("error", reject).end(input);
  });

/**
 * The audio of a tool's WAV. Both tools write the canonical 44-byte header; the sizes in
 * espeak-ng's header are wrong when it writes to a pipe.
 */
export const soundOf = (bytes: Buffer): Sound => {
  const body = bytes.subarray(44, bytes.length - (bytes.length % 2));
  const samples = Int16Array.from({ length: body.length / 2 }, (_, at) => body.readInt16LE(2 * at));
  return { sampleRate: bytes.length < 44 ? 0 : bytes.readUInt32LE(24), samples };
};
