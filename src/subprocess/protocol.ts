import type { AudioFormat, DecodedContainer, EncodedFormat } from "../domain/synthesis/formats.ts";
import type { EspeakRequest, SpeechEvent } from "./espeak.ts";
import type { SpeechModel } from "./models.ts";
import type { SpeechTool, ToolFailure, ToolVersions } from "./tools.ts";

/**
 * Messages between the service and its helper process. Bytes are sent as Buffers (advanced
 * serialization).
 */

export interface Limits {
  /**
   * The time from the start of the job to its deadline. For an encoder, twice the duration of its
   * input is added.
   */
  readonly deadlineMs: number;
  readonly maxOutputBytes: number;
}

/** `file`: for tools that seek in their output; they still write to /dev/stdout. */
export type ToolSpec = Limits & {
  readonly type: "tool";
  readonly tool: SpeechTool;
  readonly args: readonly string[];
  readonly output: "pipe" | "file";
  /** True for long responses: short ones are more urgent. */
  readonly lowPriority: boolean;
};

/**
 * A text for espeak-ng: for its library, or its command line where the library is missing. The
 * input is the text.
 */
export type EspeakSpec = Limits &
  Omit<EspeakRequest, "text"> & { readonly type: "espeak"; readonly lowPriority: boolean };

/** A text for a model. The input is the request to its program, as JSON. */
export type ModelSpec = Limits & { readonly type: "model"; readonly model: SpeechModel };

/**
 * Its input is a WAV of one channel with this sample rate and the canonical header; the sizes in it
 * are ignored.
 */
export type EncoderSpec = Limits & {
  readonly type: "encoder";
  readonly format: EncodedFormat;
  /** The sample rate in Hz. */
  readonly sampleRate: number;
  readonly lowPriority: boolean;
};

/**
 * The input is audio of a server that may send anything; the output is a WAV of one channel of
 * 16-bit samples.
 */
export type DecoderSpec = Limits & {
  readonly type: "decoder";
  readonly container: DecodedContainer;
  readonly lowPriority: boolean;
};

/** How a tool's samples become a part of the audio. */
export interface PieceShape {
  /** The factors that are applied to the samples, one after the other. */
  readonly gains: readonly number[];
  /** The longest silence that is kept at each end, in seconds. If undefined, all of it is kept. */
  readonly leading?: number | undefined;
  readonly trailing?: number | undefined;
  /** Samples up to this amplitude are silent. */
  readonly silence: number;
  /** The silence that is added at the ends. */
  readonly pauseMs: { readonly before: number; readonly after: number };
}

/** A piece of a text, for its tool. */
export interface PieceSpec {
  readonly job: ToolSpec | EspeakSpec | ModelSpec;
  readonly input: string;
  readonly shape: PieceShape;
}

/**
 * A text in pieces, which becomes one audio. The service gives each piece its slot; the first piece
 * gets it before the job is sent. The limits are those of the encoder.
 */
export type SpeechSpec = Limits & {
  readonly type: "speech";
  readonly pieces: readonly PieceSpec[];
  /** If undefined, the output is samples, behind a WAV header. */
  readonly format: AudioFormat | undefined;
  readonly progressive: boolean;
  /** True if the encoder is that of a long response. */
  readonly lowPriority: boolean;
  /** True if the encoder has its slot already. */
  readonly hasEncoder: boolean;
};

export type JobSpec = ToolSpec | EspeakSpec | ModelSpec | EncoderSpec | DecoderSpec | SpeechSpec;

export type Request =
  | { readonly type: "ping" }
  | { readonly type: "start"; readonly job: number; readonly spec: JobSpec }
  | { readonly type: "input"; readonly job: number; readonly bytes: Buffer }
  | { readonly type: "end"; readonly job: number }
  /** Acknowledges bytes of output, at least half of a window. */
  | { readonly type: "taken"; readonly job: number; readonly bytes: number }
  | { readonly type: "abort"; readonly job: number }
  | { readonly type: "textResponse"; readonly job: number; readonly response: TextResponse };

/** The process that speaks a text requests this from the service. */
export type TextRequest =
  /** Asks for the slot of a piece. */
  | { readonly need: "slot"; readonly piece: number; readonly isContinuation: boolean }
  /** Asks for the slot of the encoder. */
  | { readonly need: "encoder" }
  /** Asks for the parts of a piece at which its tool crashed. */
  | { readonly need: "parts"; readonly piece: number; readonly failure: ToolFailure };

/** The response to the text's request with this number. */
export interface TextResponse {
  readonly number: number;
  readonly isRefused?: boolean;
  readonly parts?: readonly PieceSpec[];
}

/** The process of a piece has exited. */
export interface SpokenPieceReport {
  readonly piece: number;
  /** The failure; undefined if it has succeeded. */
  readonly failure?: ToolFailure | undefined;
}

/** The facts about a piece, known after the end of the audio. */
export interface PieceReport {
  /** The events of its tool; undefined if it reports none. */
  events: readonly SpeechEvent[] | undefined;
  /** The sample rate of the tool. */
  sampleRate: number;
  /** The tool's samples that were dropped from its start. */
  dropped: number;
  /**
   * The number of samples that it contributes to the audio; `paused` of them are the pause before
   * it.
   */
  length: number;
  paused: number;
}

export interface SpeechReport {
  /** The sample rate of the encoder's input. */
  readonly sampleRate: number;
  readonly samples: number;
  /** The reports by the number of the piece; undefined for pieces that were not begun. */
  readonly pieces: readonly (PieceReport | undefined)[];
}

/** The report of a job's process at its end, if it speaks by a library. */
export interface JobReport {
  readonly events?: readonly SpeechEvent[] | undefined;
  /** The CPU time that the process took. */
  readonly cpuMs?: number | undefined;
  /** The report of a text. */
  readonly speech?: SpeechReport | undefined;
}

/** Every job ends with `done` or `failed`, after its process has exited. */
export type Response =
  | { readonly type: "pong" }
  | {
      readonly type: "ready";
      readonly versions: ToolVersions;
      /** How texts for espeak-ng are spoken; undefined if it is not installed. */
      readonly espeak: "library" | "command" | undefined;
      /**
       * Sentences that say which formats processes of ffmpeg encode instead of libraries, and why.
       * Undefined if there are none, or if only ffmpeg is meant to encode.
       */
      readonly encoderFallback: string | undefined;
    }
  /** Sent instead of `ready`: the process could not start. */
  | { readonly type: "notStarted"; readonly message: string }
  | { readonly type: "output"; readonly job: number; readonly bytes: Buffer }
  /** Acknowledges bytes of input. */
  | { readonly type: "written"; readonly job: number; readonly bytes: number }
  | ({ readonly type: "done"; readonly job: number } & JobReport)
  | ({ readonly type: "failed"; readonly job: number } & ToolFailure)
  /** The first samples of a text exist. The encoder gets them when it has its slot. */
  | { readonly type: "encoding"; readonly job: number; readonly sampleRate: number }
  | {
      readonly type: "textRequest";
      readonly job: number;
      readonly number: number;
      readonly request: TextRequest;
    }
  | ({ readonly type: "spoken"; readonly job: number } & SpokenPieceReport);

/**
 * The limit of unacknowledged bytes, per job and direction: IPC channels have no backpressure.
 * Messages are sent in order, so those of short responses wait for all that long responses have
 * sent.
 */
export const windowBytes = 128 * 1024;

/** The only argument of the helper process, as JSON. */
export interface HostOptions {
  readonly encodersAhead: Readonly<Partial<Record<EncodedFormat, number>>>;
  /**
   * The largest number of processes with espeak-ng's library. If it is 0, the command line speaks.
   */
  readonly speakers: number;
  /**
   * The folder of the libraries that encode, with a slash at its end. If it is empty, the dynamic
   * loader finds them. If it is undefined, processes of ffmpeg encode.
   */
  readonly codecFolder: string | undefined;
}
