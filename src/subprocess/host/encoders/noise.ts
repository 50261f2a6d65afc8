const samples = 4096;

/** The sample rate of the noise, in Hz. */
export const noiseRate = 22_050;

/**
 * Returns noise that is always the same: samples from -4096 to 4095, from a linear congruential
 * generator.
 */
export const noise = (): Buffer => {
  const pcm = Buffer.alloc(2 * samples);
  for (let at = 0, state = 1; at < samples; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    pcm.writeInt16LE(state >> 19, 2 * at);
  }
  return pcm;
};
