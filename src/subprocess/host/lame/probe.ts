import { encodeNoise } from "./encode-noise.ts";
import { startLame } from "./encoder.ts";
import { openLame } from "./library.ts";

/*
 * Encodes noise with the library that its argument names, and writes the mp3 to standard output. A process of its own, because a
 * damaged library ends the process that loads or calls it.
 */
const mp3 = await encodeNoise((sampleRate) => startLame(openLame(process.argv[2] ?? ""), sampleRate));
process.stdout.write(mp3);
