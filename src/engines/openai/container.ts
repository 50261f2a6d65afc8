/** The container of audio by its first bytes. Raw samples have no signature and are `unknown`. */
export type Container = "mp3" | "ogg" | "wav" | "unknown";

/** Bytes needed for detection. */
export const sniffBytes = 28;

export const detectContainer = (beginning: Buffer): Container => {
  const four = beginning.toString("latin1", 0, 4);
  if (four === "OggS") return "ogg";
  if (four === "RIFF" && beginning.toString("latin1", 8, 12) === "WAVE") return "wav";
  if (four.startsWith("ID3") || isMpegFrame(beginning)) return "mp3";
  return "unknown";
};

/** The sample rate of a WAV whose first chunk is the format. */
export const rateOf = (wav: Buffer): number | undefined =>
  wav.length >= sniffBytes && wav.toString("latin1", 12, 16) === "fmt " ? wav.readUInt32LE(24) : undefined;

/** Layer III of any MPEG version: AAC in ADTS has the same first eleven bits, and layer 0. */
const isMpegFrame = (bytes: Buffer): boolean => {
  const [first = 0, second = 0] = bytes;
  const version = (second >> 3) & 3;
  const layer = (second >> 1) & 3;
  return first === 0xff && second >= 0xe0 && version !== 1 && layer === 1;
};
