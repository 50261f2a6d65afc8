/** The length of audio. Seconds are `samples / sampleRate`. */
export interface AudioLength {
  readonly samples: number;
  /** In Hz. */
  readonly sampleRate: number;
}
