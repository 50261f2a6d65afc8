/*
 * A frame of audio: 0x01, the synthesis' id as 36 ASCII bytes, the frame's index from 0 as uint32 big-endian, audio.
 */

const kind = 0x01;
const idAt = 1;
const indexAt = 37;
const audioAt = 41;

/** No frame is longer: whoever shares the socket has its turn after each. */
const maxFrameBytes = 64 * 1024;
const maxAudioBytes = maxFrameBytes - audioAt;

export const audioFrame = (id: string, index: number, audio: Buffer): Buffer => {
  const frame = Buffer.allocUnsafe(audioAt + audio.length);
  frame[0] = kind;
  frame.write(id, idAt, "latin1");
  frame.writeUInt32BE(index, indexAt);
  frame.set(audio, audioAt);
  return frame;
};

/** What of a chunk goes into one frame each: parts of it, not copies. */
export function* framePayloads(chunk: Buffer): Generator<Buffer> {
  for (let at = 0; at < chunk.length; at += maxAudioBytes) yield chunk.subarray(at, at + maxAudioBytes);
}
