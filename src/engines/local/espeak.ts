import type { Prosody } from "../../domain/synthesis/speech.ts";
import type { SubprocessHost } from "../../subprocess/subprocess-host.ts";
import { ToolFailed } from "../../subprocess/tools.ts";
import { readSamples } from "../pcm/read-samples.ts";
import { silentSpeechError } from "../text/unspoken.ts";
import type { LocalTool } from "./local-tool.ts";

/** A voice file, because variants of a voice that is named by language are not always applied; and a variant. */
const voicePattern = /^((?:[a-z]{2,4}\/)?[a-z]{2,4}(?:-[A-Za-z0-9]+)*)(?:\+([A-Za-z0-9_-]+))?$/;

/** espeak-ng; undefined if it is not installed. */
export const espeak = async (host: SubprocessHost): Promise<LocalTool | undefined> => {
  const version = host.versions["espeak-ng"];
  if (version === undefined) return undefined;
  const [files, variants] = await Promise.all([list(host, "--voices"), list(host, "--voices=variant")]);
  return {
    prefix: "espeak",
    version: `espeak-ng ${version}`,
    // espeak-ng silently ignores unknown variants.
    has: (voice) => {
      const [, file, variant] = voicePattern.exec(voice) ?? [];
      return (
        file !== undefined && files.has(file) && (variant === undefined || variants.has(`!v/${variant}`))
      );
    },
    knobs: () => ["pitch", "rate", "volume"],
    takesSsml: true,
    cost: ({ length }) => length,
    speak: (request, signal, turn) => {
      const { text, ssml, voice, prosody } = request;
      const args = ["-v", voice, ...knobArguments(prosody), ...(ssml ? ["-m"] : []), "--stdin", "--stdout"];
      const wav = host.run({ tool: "espeak-ng", args, output: "pipe", input: plain(text) }, signal, turn);
      return readSamples(wav, () => silentSpeechError(request)).catch((error: unknown) => {
        const isSilent = error instanceof ToolFailed && error.reason === "silent";
        throw isSilent ? silentSpeechError(request) : error;
      });
    },
  };
};

/**
 * Words per minute (at least 80), 0 to 99 with 50 as the voice's own pitch, and per cent (below 4 some voices are
 * silent).
 */
const knobArguments = ({ rate, pitch, volume }: Prosody): string[] => [
  ...["-s", String(Math.max(80, Math.round(175 * rate)))],
  ...["-p", String(Math.min(99, Math.round(50 * pitch)))],
  ...["-a", String(volume === 0 ? 0 : Math.max(4, Math.round(100 * volume)))],
];

/**
 * Removes commands of espeak-ng: `[[…]]` is phonemes, U+0001 starts a change of voice or rate, U+0000 ends the text.
 */
const plain = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, " ").replace(/(\[|&#0*91;|&#[xX]0*5[bB];)(?=\[|&#)/g, "$1 ");

/** The files of the installed voices: the fifth column. */
const list = async (host: SubprocessHost, option: "--voices" | "--voices=variant"): Promise<Set<string>> => {
  const table: Buffer[] = [];
  const job = { tool: "espeak-ng", args: [option], output: "pipe", input: "" } as const;
  for await (const piece of host.run(job, AbortSignal.timeout(10_000))) table.push(piece);
  const rows = Buffer.concat(table).toString("utf8").split("\n").slice(1);
  return new Set(rows.map((row) => row.trim().split(/\s+/)[4] ?? "").filter((file) => file !== ""));
};
