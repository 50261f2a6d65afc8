import { readSync, writeSync } from "node:fs";
import { espeakUnknownSize, wavHeader } from "../../domain/synthesis/wav-header.ts";
import { cancelLine, type FrameKind, frameHeader, frameKinds, type SpokenText } from "./frames.ts";

/**
 * The functions that all programs of speaker processes use. Such a program reads requests as lines
 * of JSON and writes frames. It speaks one text at a time, and ends when its input ends. Writing
 * blocks, so that a full pipe delays the synthesis.
 */

const input = 0;
const output = 1;
const lineFeed = 0x0a;
/** The least size of the first part: enough for the encoder to begin with. */
const firstPartBytes = 8 * 1024;
/**
 * The least size of further parts doubles from part to part until it is this. It is less than a
 * message of 64 KB, because samples that are held back at the end of a part are sent with the next
 * one.
 */
const maxPartBytes = 58 * 1024;

export const reportReady = (report: string): void => {
  writeJson(frameKinds.ready, report);
  cpuAtReport = process.cpuUsage();
};

/** Called instead of `reportReady` or `reportDone`. */
export const reportFailure = (error: unknown): void => {
  writeJson(frameKinds.failed, error instanceof Error ? error.message : "unknown");
  cpuAtReport = process.cpuUsage();
};

export const reportDone = (spoken: Omit<SpokenText, "cpuMs">): void => {
  const { user, system } = process.cpuUsage(cpuAtReport);
  writeJson(frameKinds.done, { ...spoken, cpuMs: (user + system) / 1_000 });
  cpuAtReport = process.cpuUsage();
};

/** The CPU time of this process at its last report: since then it has worked for one text. */
let cpuAtReport = process.cpuUsage();

/** Writes a WAV of unknown length in parts. */
export const createWavWriter = (sampleRate: () => number) => {
  let parts: Buffer[] = [];
  let size = 0;
  let hasHeader = false;
  let minBytes = firstPartBytes;
  /** Writes what is held back. */
  const flush = (): void => {
    if (size === 0) return;
    writeFrame(frameKinds.wav, parts);
    parts = [];
    size = 0;
    minBytes = Math.min(2 * minBytes, maxPartBytes);
  };
  const hold = (bytes: Buffer): void => {
    parts.push(bytes);
    size += bytes.length;
    if (size >= minBytes) flush();
  };
  return {
    /** 16-bit samples; the first call writes the header first. */
    add: (samples: Buffer): void => {
      if (!hasHeader) hold(wavHeader(sampleRate(), espeakUnknownSize));
      hasHeader = true;
      hold(samples);
    },
    flush,
  };
};

/** Yields the requests to a program whose synthesis is a single step, which cannot be cancelled. */
export function* readLines(): Generator<string, void> {
  for (const line of linesOfInput()) if (line !== cancelLine) yield line;
}

function* linesOfInput(): Generator<string, void> {
  const piece = Buffer.allocUnsafe(64 * 1024);
  let held: Buffer = Buffer.alloc(0);
  for (;;) {
    const size = readSync(input, piece);
    if (size === 0) return;
    held = Buffer.concat([held, piece.subarray(0, size)]);
    for (let end = held.indexOf(lineFeed); end >= 0; end = held.indexOf(lineFeed)) {
      yield held.toString("utf8", 0, end);
      held = held.subarray(end + 1);
    }
  }
}

/** Writes the frame by one call, so that its reader is woken once. */
const writeFrame = (kind: FrameKind, content: readonly Buffer[]): void => {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  writeAll(Buffer.concat([frameHeader(kind, length), ...content]));
};

const writeJson = (kind: FrameKind, content: unknown): void =>
  writeFrame(kind, [Buffer.from(JSON.stringify(content))]);

const writeAll = (bytes: Buffer): void => {
  for (let at = 0; at < bytes.length; ) at += writeSync(output, bytes, at);
};
