/** The length of a sound. Seconds are `samples / sampleRate`. */
export interface AudioLength {
  readonly samples: number;
  /** In Hz. */
  readonly sampleRate: number;
}
