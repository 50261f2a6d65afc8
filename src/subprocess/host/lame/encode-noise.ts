import { buffer } from "node:stream/consumers";
import { wavHeader } from "../../../domain/synthesis/wav-header.ts";
import type { ToolProcess } from "../exit-failure.ts";

const sampleRate = 22_050;
const samples = 4096;

/** The mp3 of some noise, which is always the same. */
export const encodeNoise = async (start: (sampleRate: number) => ToolProcess): Promise<Buffer> => {
  const { input, output } = start(sampleRate);
  input.end(noise());
  return await buffer(output);
};

/** Below 8,000, by a linear congruential generator. */
const noise = (): Buffer => {
  const pcm = Buffer.alloc(2 * samples);
  for (let at = 0, state = 1; at < samples; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    pcm.writeInt16LE(state >> 19, 2 * at);
  }
  return Buffer.concat([wavHeader(sampleRate, pcm.length), pcm]);
};
