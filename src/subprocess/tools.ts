import { type ProcessEnd, ProcessFailed } from "../domain/process-end.ts";

/** The only programs that the helper process starts, by their names on PATH. */
export type SpeechTool = "espeak-ng" | "flite";
export type Tool = SpeechTool | "ffmpeg";

/** Versions of the installed tools; a missing tool is absent. */
export type ToolVersions = Readonly<Partial<Record<Tool, string>>>;

export type FailureReason =
  /** The tool is not installed. */
  | "missing"
  /** Its library is not installed, or not as expected. */
  | "library"
  /** It ended with an error. */
  | "exit"
  /** It was killed from outside, for lack of memory or by an operator. */
  | "killed"
  /** It succeeded, but wrote no output. */
  | "silent"
  | "deadline"
  /** Its output was too large. */
  | "flood"
  /** Its output is not what it should be. */
  | "output"
  /** All its samples are silent. */
  | "silence"
  /** The text takes too long to speak. */
  | "tooLong"
  /** The service refused a slot for a piece, or the parts of one. */
  | "refused"
  /** The helper process died. */
  | "helper"
  /** Its caller aborted it. */
  | "abandoned";

/** What one process tells another one about the failure of a job. */
export interface ToolFailure {
  readonly reason: FailureReason;
  readonly message: string;
  readonly isOfEncoder?: boolean;
  readonly end?: ProcessEnd;
}

/** A job failed. The message is safe to show: it contains no path and no input. */
export class ToolFailed extends ProcessFailed {
  override readonly name = "ToolFailed";
  readonly reason: FailureReason;
  /** True if the encoder of a text failed, and not what speaks it. */
  readonly isOfEncoder: boolean;
  readonly end: ProcessEnd;

  constructor(
    reason: FailureReason,
    message: string,
    { isOfEncoder = false, end = {} }: Pick<ToolFailure, "isOfEncoder" | "end"> = {},
  ) {
    super(message);
    this.reason = reason;
    this.isOfEncoder = isOfEncoder;
    this.end = end;
  }

  /** The failure, as it is sent to another process. */
  get failure(): ToolFailure {
    const { reason, message, isOfEncoder, end } = this;
    return { reason, message, isOfEncoder, end };
  }

  /** True if the cause was outside of the job, so that the job may be restarted. */
  get interrupted(): boolean {
    return this.reason === "helper" || this.reason === "killed";
  }
}
