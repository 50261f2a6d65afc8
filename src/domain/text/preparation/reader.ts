/** Who reads a prepared text aloud, and what it reads right by itself. */
export interface Reader {
  /** BCP-47. */
  readonly lang: string;
  readonly tool: "espeak" | "flite" | "sherpa";
}
