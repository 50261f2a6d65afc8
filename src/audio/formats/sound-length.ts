/** The length of a sound. Seconds are `samples / sampleRate`. */
export interface SoundLength {
  readonly samples: number;
  /** In Hz. */
  readonly sampleRate: number;
}
