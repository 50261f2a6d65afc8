/** A short WAV without a sound: 8-bit samples, 8,000 a second, for half a second. */
export const silence = (): Blob => {
  const samples = 4_000;
  const header = new DataView(new ArrayBuffer(44));
  const chunk = (at: number, name: string, size: number): void => {
    for (const [index, letter] of [...name].entries()) header.setUint8(at + index, letter.charCodeAt(0));
    header.setUint32(at + 4, size, true);
  };
  chunk(0, "RIFF", 36 + samples);
  chunk(8, "WAVE", 0);
  chunk(12, "fmt ", 16);
  header.setUint16(20, 1, true); // PCM
  header.setUint16(22, 1, true); // one channel
  header.setUint32(24, 8_000, true); // samples a second
  header.setUint32(28, 8_000, true); // bytes a second
  header.setUint16(32, 1, true); // bytes a sample
  header.setUint16(34, 8, true); // bits a sample
  chunk(36, "data", samples);
  return new Blob([header, new Uint8Array(samples).fill(0x80)], { type: "audio/wav" });
};
