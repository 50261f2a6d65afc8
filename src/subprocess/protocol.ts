import type { EncodedFormat } from "../domain/synthesis/formats.ts";
import type { FailureReason, SpeechTool, ToolVersions } from "./tools.ts";

/** Messages between the service and its helper process. Bytes are sent as Buffers (advanced serialization). */

export interface Limits {
  readonly deadlineMs: number;
  readonly maxOutputBytes: number;
}

/** `file`: for tools that seek in their output; they still write to /dev/stdout. */
export type ToolSpec = Limits & {
  readonly type: "tool";
  readonly tool: SpeechTool;
  readonly args: readonly string[];
  readonly output: "pipe" | "file";
  /** For later pieces of a text: first pieces are more urgent. */
  readonly lowPriority: boolean;
};

/** Its input is a WAV with a sample rate; sizes in its header are ignored. */
export type EncoderSpec = Limits & { readonly type: "encoder"; readonly format: EncodedFormat };

export type JobSpec = ToolSpec | EncoderSpec;

export type Request =
  | { readonly type: "ping" }
  | { readonly type: "start"; readonly job: number; readonly order: JobSpec }
  | { readonly type: "input"; readonly job: number; readonly bytes: Buffer }
  | { readonly type: "end"; readonly job: number }
  /** Acknowledges bytes of output. */
  | { readonly type: "taken"; readonly job: number; readonly bytes: number }
  | { readonly type: "abort"; readonly job: number };

/** Every job ends with `done` or `failed`, after its process has exited. */
export type Response =
  | { readonly type: "pong" }
  | { readonly type: "ready"; readonly versions: ToolVersions }
  | { readonly type: "output"; readonly job: number; readonly bytes: Buffer }
  /** Acknowledges bytes of input. */
  | { readonly type: "written"; readonly job: number; readonly bytes: number }
  | { readonly type: "done"; readonly job: number }
  | {
      readonly type: "failed";
      readonly job: number;
      readonly reason: FailureReason;
      readonly message: string;
    };

/** IPC channels have no backpressure: the limit of unacknowledged bytes, per job and direction. */
export const windowBytes = 256 * 1024;

/** The helper process's one argument, as JSON. */
export interface HostOptions {
  readonly encodersAhead: Readonly<Partial<Record<EncodedFormat, number>>>;
}
