import { NothingToSpeak, Unpronounceable } from "../../domain/errors.ts";
import type { SubprocessHost } from "../../subprocess/subprocess-host.ts";
import type { SpeechRequest } from "../engine.ts";
import { type Boundary, type LocalTool, type Pauses, slowestRate, type ToolPiece } from "./local-tool.ts";

/**
 * The version of the requests to the tool. Raise it when they change, or names would lead to old
 * audio. A test enforces it.
 */
const preparation = 1;

/**
 * The pitch of each voice in Hz, if it can be changed. Only these voices are used, because flite
 * would search files for other names.
 */
const voices: Readonly<Record<string, { readonly pitch?: number }>> = {
  slt: { pitch: 172 },
  rms: {},
  awb: {},
  kal16: { pitch: 95 },
};

const voiceOf = (name: string) => (Object.hasOwn(voices, name) ? voices[name] : undefined);

/**
 * The tool flite, which speaks more natural English than espeak-ng, and no other language.
 * Undefined if it is not installed.
 */
export const flite = (host: SubprocessHost): LocalTool | undefined => {
  const version = host.versions.flite;
  if (version === undefined) return undefined;
  return {
    prefix: "flite",
    version: () => `flite ${version}; preparation ${preparation}`,
    has: (voice) => voiceOf(voice) !== undefined,
    prosodyParameters: (voice) =>
      voiceOf(voice)?.pitch === undefined ? ["rate", "volume"] : ["pitch", "rate", "volume"],
    reportsEvents: false,
    cost,
    unreadable: (text) => text.normalize("NFKD").match(beyondAsciiLetters) ?? [],
    pauses: (boundary, rate) => pauses[boundary](rate),
    pieceFor,
  };
};

/** The output is a file, because flite seeks in it; on a pipe it returns nothing, or hangs. */
const pieceFor = (request: SpeechRequest): ToolPiece => {
  const { volume } = request.prosody;
  const input = plain(request.text);
  if (!speakable.test(input)) {
    const unread = request.text.match(beyondAscii);
    throw unread ? new Unpronounceable(unread) : new NothingToSpeak();
  }
  const args = ["-voice", request.voice, ...prosodyArguments(request), "-f", "-", "-o", "/dev/stdout"];
  const job = { type: "tool", tool: "flite", args, output: "file", input, maxOutputBytes } as const;
  return { job, volume };
};

/** flite ends every text like a sentence, and begins it with a fifth of a second of silence. */
const pauses: Readonly<Record<Boundary, (rate: number) => Pauses>> = {
  sentence: () => ({}),
  clause: (rate) => ({ before: 0.02, after: 0.08 / Math.max(rate, slowestRate) }),
  word: () => ({ before: 0.01, after: 0.01 }),
};

/** A piece of letters at the slowest rate takes 3 MB. */
const maxOutputBytes = 16 * 1024 * 1024;

/** A digit or a sign is read as a word, which takes as long as four letters. */
const cost = (text: string): number => {
  const input = plain(text);
  return input.length + 3 * input.replace(/[A-Za-z\s.,;:!?'"()-]/g, "").length;
};

/** Pitch ranges from 2/3 to 5/3 of the voice's own, as in espeak-ng. */
const prosodyArguments = ({ voice, prosody: { rate, pitch } }: SpeechRequest): string[] => {
  const own = voiceOf(voice)?.pitch;
  const factor = pitch < 1 ? (2 + pitch) / 3 : 1 + (2 / 3) * (pitch - 1);
  return [
    ...(rate === 1 ? [] : ["--setf", `duration_stretch=${(1 / Math.max(rate, slowestRate)).toFixed(4)}`]),
    ...(own === undefined || pitch === 1
      ? []
      : ["--setf", `int_f0_target_mean=${(own * factor).toFixed(1)}`]),
  ];
};

/** flite reads only ASCII, so accents are removed; U+0000 would end the text. */
const plain = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u2010-\u2015]/g, "-")
    .replace(/[^\x20-\x7e\n\t]/gu, " ");

const beyondAsciiLetters = /[[\p{L}\p{N}]--\p{ASCII}]/gv;

/** Letters, digits and signs (emoji included) that flite skips and another voice may pronounce. */
const beyondAscii = /[^\p{ASCII}\p{P}\p{Z}\p{C}\p{M}]/gu;

/** For a text without any of these, flite returns the audio of a breath. */
const speakable = /[A-Za-z0-9%&@$+#^~_*=/\\|]/;
