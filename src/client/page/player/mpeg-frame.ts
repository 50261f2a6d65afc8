/** Kilobits per second of layer III, by the index in the header, for MPEG 1 and for MPEG 2. */
const bitRates = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;

const sampleRates = [44_100, 48_000, 32_000];

/** The length in bytes and the sample rate of the first frame of layer III. */
export const readMpegFrame = ([, version = 0, rates = 0]: Uint8Array): {
  readonly length: number;
  readonly sampleRate: number;
} => {
  const mpeg = (version >> 3) & 3; // 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5
  const [samples, divisor] = mpeg === 3 ? [1_152, 1] : [576, mpeg === 2 ? 2 : 4];
  const kilobits = bitRates[mpeg === 3 ? 0 : 1][rates >> 4] ?? 0;
  const sampleRate = (sampleRates[(rates >> 2) & 3] ?? 44_100) / divisor;
  const padding = (rates >> 1) & 1;
  return { length: Math.floor((samples * 125 * kilobits) / sampleRate) + padding, sampleRate };
};
