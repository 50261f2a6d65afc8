import { encodeNoise } from "./encode-noise.ts";
import { startLame } from "./encoder.ts";
import { openLame } from "./library.ts";

/*
 * Encodes noise with the library that its argument names, as short audio and as long audio, and
 * writes both mp3s to standard output. It is a process of its own, because a damaged library ends
 * the process that loads or calls it.
 */
const lame = openLame(process.argv[2] ?? "");
for (const isShort of [true, false]) {
  process.stdout.write(await encodeNoise((sampleRate) => startLame(lame, sampleRate, isShort)));
}
