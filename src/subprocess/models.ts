/** A model, or an engine with its data, that speaks in processes of its own. */
export interface SpeechModel {
  /** The name is unique: it says to which model a process belongs. */
  readonly name: string;
  readonly program: ModelProgram;
  /** The argument of the program, as JSON. */
  readonly start: object;
  /** The memory of a process, beyond what Node itself reserves. */
  readonly memoryBytes: number;
  /** A process ends after this time without a text. */
  readonly idleMs: number;
  /** The maximum number of processes, each for one text at a time. Default: 1. */
  readonly processes?: number;
  /** True if its processes yield to the service and to other tools. Default: false. */
  readonly lowPriority?: boolean;
}

/** The folders of `host/models`. */
export const modelPrograms = ["hibari", "kokoro", "pico", "sherpa"] as const;
export type ModelProgram = (typeof modelPrograms)[number];
