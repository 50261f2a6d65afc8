/** An MPEG Layer III header (ISO 11172-3, 13818-3). */
interface MpegFrame {
  /** The size of the frame in bytes, its header included. */
  readonly length: number;
  readonly samples: number;
  /** The sample rate in Hz. */
  readonly sampleRate: number;
}

/** Bit rates of Layer III in kbit/s, by index: those of MPEG-1, then those of MPEG-2 and 2.5. */
const rates1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const rates2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
/** Sample rates of MPEG-1 in Hz, by index. Those of MPEG-2 are half, those of 2.5 a quarter. */
const samplings = [44_100, 48_000, 32_000];

/** Returns undefined if the bytes are not a Layer III header with a length. */
export const readMpegFrame = (header: number): MpegFrame | undefined => {
  const version = (header >>> 19) & 3; // 3: MPEG-1, 2: MPEG-2, 0: MPEG-2.5
  const layer = (header >>> 17) & 3; // 1: Layer III
  const kilobits = (version === 3 ? rates1 : rates2)[(header >>> 12) & 15];
  const sampling = samplings[(header >>> 10) & 3];
  if (header >>> 21 !== 0x7ff || version === 1 || layer !== 1 || !kilobits || !sampling) return undefined;
  const sampleRate = version === 3 ? sampling : version === 2 ? sampling / 2 : sampling / 4;
  const samples = version === 3 ? 1152 : 576;
  const padding = (header >>> 9) & 1;
  return { length: Math.floor((samples * 125 * kilobits) / sampleRate) + padding, samples, sampleRate };
};
