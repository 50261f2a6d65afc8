/** The tools that the helper process may start, by their names on PATH; nothing else is ever started. */
export const speechTools = ["espeak-ng", "flite"] as const;
export type SpeechTool = (typeof speechTools)[number];
export type Tool = SpeechTool | "ffmpeg";

/** What the installed tools call their versions; a tool that is not installed is absent. */
export type ToolVersions = Readonly<Partial<Record<Tool, string>>>;

export type FailureReason =
  /** The tool is not installed. */
  | "missing"
  /** It ended with an error. */
  | "exit"
  /** Somebody else ended it: a lack of memory, an operator. */
  | "killed"
  /** It ended well, and gave nothing. */
  | "silent"
  | "deadline"
  /** It gave more bytes than it may. */
  | "flood"
  /** The helper process ended under it. */
  | "helper"
  /** Nobody wanted it any more. */
  | "abandoned";

/** A tool's job failed. The message is safe to show: it holds no path and nothing of what the tool was given. */
export class ToolFailed extends Error {
  override readonly name = "ToolFailed";
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string) {
    super(message);
    this.reason = reason;
  }

  /** Whether it was broken off by something else than the job itself. */
  get interrupted(): boolean {
    return this.reason === "helper" || this.reason === "killed";
  }
}
