import type { Mark } from "../domain/synthesis/marks.ts";
import type { Api } from "./api.ts";

export interface SpokenWord extends Mark {
  /** The word as the text has it. */
  readonly word: string;
}

/** Synthesized audio, in memory. */
export interface SpokenAudio {
  readonly blob: Blob;
  /** Seconds from the start, and the level at each: 0 to 1. */
  readonly times: readonly number[];
  readonly levels: readonly number[];
  /** The words with their times; empty if unknown. */
  readonly words: readonly SpokenWord[];
  readonly source: string;
  readonly responseMs: number;
}

interface SpeakRequest {
  /** The key that is charged. */
  readonly apiKey: string;
  readonly voice: string;
  readonly text: string;
  readonly signal: AbortSignal;
}

/** Synthesizes a text at the expense of a key. */
export const speak = async (
  api: Api,
  { apiKey, voice, text, signal }: SpeakRequest,
): Promise<SpokenAudio> => {
  const startedAt = performance.now();
  const response = await api.open(`admin/keys/${encodeURIComponent(apiKey)}/speech`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ voice, text }),
    signal,
  });
  const bytes = await response.arrayBuffer();
  const responseMs = performance.now() - startedAt;
  const blob = new Blob([bytes], { type: response.headers.get("Content-Type") ?? "audio/mpeg" });
  const cached = [...response.headers].find(([name]) => name.endsWith("-cached"));
  const [wave, marks] = await Promise.all([
    waveOf(bytes),
    readWordMarks(api, response.headers.get("Link"), signal),
  ]);
  const characters = [...text];
  const words = marks.map((mark) => ({ ...mark, word: characters.slice(mark.start, mark.end).join("") }));
  return { blob, ...wave, words, source: cached?.[1] ?? "unknown", responseMs };
};

const points = 600;

/** Returns the loudest sample of each part of the audio. */
const waveOf = async (bytes: ArrayBuffer): Promise<Pick<SpokenAudio, "times" | "levels">> => {
  const context = new OfflineAudioContext(1, 1, 44_100);
  const audio = await context.decodeAudioData(bytes.slice(0));
  const samples = audio.getChannelData(0);
  const width = Math.max(1, Math.ceil(samples.length / points));
  const times: number[] = [];
  const levels: number[] = [];
  for (let start = 0; start < samples.length; start += width) {
    let level = 0;
    for (const sample of samples.subarray(start, start + width)) level = Math.max(level, Math.abs(sample));
    times.push(start / audio.sampleRate);
    levels.push(level);
  }
  return { times, levels };
};

/** Reads the marks of audio: one JSON object per line. */
export const readMarks = async (api: Api, path: string, signal: AbortSignal): Promise<Mark[]> => {
  const lines = await (await api.open(path, { signal })).text();
  return lines.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
};

/** Reading the marks is tried this often, because the service writes them in the background. */
const attempts = 5;

const readWordMarks = async (
  api: Api,
  link: string | null,
  signal: AbortSignal,
): Promise<readonly Mark[]> => {
  const path = /<([^>]+\.marks\.json)>/.exec(link ?? "")?.[1];
  if (!path) return [];
  for (let attempt = 1; attempt <= attempts; attempt++) {
    try {
      return (await readMarks(api, path, signal)).filter(({ type }) => type === "word");
    } catch {
      signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  return [];
};
