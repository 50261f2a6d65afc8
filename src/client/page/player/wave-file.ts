/** No voice speaks above this rate, in Hz. */
const sampleRate = 24_000;
const headerLength = 44;

/** The decoded audio of all parts, as a WAV file of 16 bits and one channel. */
export const waveFile = async (parts: readonly Uint8Array<ArrayBuffer>[]): Promise<Blob> => {
  const decoder = new OfflineAudioContext(1, 1, sampleRate); // which also resamples
  const samples: Int16Array<ArrayBuffer>[] = [];
  for (const part of parts) {
    const decoded = await decoder.decodeAudioData(part.slice().buffer);
    samples.push(Int16Array.from(decoded.getChannelData(0), (sample) => Math.round(sample * 32_767)));
  }
  return new Blob([header(samples.reduce((sum, { byteLength }) => sum + byteLength, 0)), ...samples], {
    type: "audio/wav",
  });
};

const header = (length: number): ArrayBuffer => {
  const view = new DataView(new ArrayBuffer(headerLength));
  const write = (at: number, text: string): void => {
    for (const [index, byte] of new TextEncoder().encode(text).entries()) view.setUint8(at + index, byte);
  };
  write(0, "RIFF");
  view.setUint32(4, headerLength - 8 + length, true);
  write(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true); // PCM
  view.setUint16(22, 1, true); // channels
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * 2, true); // bytes per second
  view.setUint16(32, 2, true); // bytes of a sample
  view.setUint16(34, 16, true); // bits of a sample
  write(36, "data");
  view.setUint32(40, length, true);
  return view.buffer;
};
