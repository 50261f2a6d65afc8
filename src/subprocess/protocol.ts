import type { EncodedFormat } from "../domain/synthesis/formats.ts";
import type { FailureReason, SpeechTool, ToolVersions } from "./tools.ts";

/** What the service and its helper process say to one another. Bytes travel as Buffers (advanced serialization). */

export interface Limits {
  readonly deadlineMs: number;
  readonly maxOutputBytes: number;
}

/** `file`: for a tool that must be able to seek in its output. It is told to write to /dev/stdout all the same. */
export type ToolSpec = Limits & {
  readonly type: "tool";
  readonly tool: SpeechTool;
  readonly args: readonly string[];
  readonly output: "pipe" | "file";
  /** For the later pieces of a text: somebody else's first one is wanted sooner. */
  readonly lowPriority: boolean;
};

/** Its input is a WAV whose header tells the sample rate; the sizes in it do not count. */
export type EncoderSpec = Limits & { readonly type: "encoder"; readonly format: EncodedFormat };

export type JobSpec = ToolSpec | EncoderSpec;

export type Request =
  | { readonly type: "ping" }
  | { readonly type: "start"; readonly job: number; readonly order: JobSpec }
  | { readonly type: "input"; readonly job: number; readonly bytes: Buffer }
  | { readonly type: "end"; readonly job: number }
  /** So many bytes of output were taken: as many more may be sent. */
  | { readonly type: "taken"; readonly job: number; readonly bytes: number }
  | { readonly type: "abort"; readonly job: number };

/** After `done` or `failed`, which every job comes to, its process is gone. */
export type Response =
  | { readonly type: "pong" }
  | { readonly type: "ready"; readonly versions: ToolVersions }
  | { readonly type: "output"; readonly job: number; readonly bytes: Buffer }
  /** So many bytes of input were passed on: as many more may be sent. */
  | { readonly type: "written"; readonly job: number; readonly bytes: number }
  | { readonly type: "done"; readonly job: number }
  | {
      readonly type: "failed";
      readonly job: number;
      readonly reason: FailureReason;
      readonly message: string;
    };

/** An IPC channel holds nobody back by itself: so much of a job, each way, may be on its way or waiting to be read. */
export const windowBytes = 256 * 1024;

/** The helper process's one argument, as JSON. */
export interface HostOptions {
  readonly encodersAhead: Readonly<Partial<Record<EncodedFormat, number>>>;
}
