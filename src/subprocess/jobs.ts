import type { SpeechEvent } from "./espeak.ts";
import type { EspeakSpec, Limits, ModelSpec, ToolSpec } from "./protocol.ts";

/** A job that a host runs. Limits that are missing have their defaults. */
export type JobOf<Spec extends Limits> = Omit<Spec, "type" | "lowPriority" | keyof Limits> & Partial<Limits>;
export type ToolJob = JobOf<ToolSpec> & { readonly input: string };
export type EspeakJob = JobOf<EspeakSpec> & {
  readonly input: string;
  /** Called before the end of the output, if the library speaks. */
  readonly onEvents?: (events: readonly SpeechEvent[]) => void;
};
export type ModelJob = JobOf<ModelSpec> & {
  /** A request to the model's program, which is sent as JSON. */
  readonly request: object;
  /** Called before the end of the output. */
  readonly onEvents?: (events: readonly SpeechEvent[]) => void;
};
