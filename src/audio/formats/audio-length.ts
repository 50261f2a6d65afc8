/** The length of audio. Seconds are `samples / sampleRate`. */
export interface AudioLength {
  readonly samples: number;
  /** The sample rate in Hz. */
  readonly sampleRate: number;
}
