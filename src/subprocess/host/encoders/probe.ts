import { readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { EncodedFormat } from "../../../domain/synthesis/formats.ts";
import { openCodecs } from "./codecs.ts";
import type { CodecOptions } from "./encoding.ts";
import { noise, noiseRate } from "./noise.ts";

/*
 * This program encodes noise with the libraries, in the formats that its arguments name. It writes
 * a line per format, with its name and the checksum, and then a line per file that its process has
 * loaded. It has a process of its own, because a damaged library ends the process that loads or
 * calls it.
 */
const [options = "{}", ...names] = process.argv.slice(2);
const open = openCodecs(JSON.parse(options) as CodecOptions);
for (const format of names as EncodedFormat[]) {
  try {
    const encoding = open(format, noiseRate);
    const parts = [encoding.encode(noise()), encoding.finish()];
    encoding.close();
    process.stdout.write(`${format} ${crc32(Buffer.concat(parts))}\n`);
  } catch {
    // Its library is missing, or not as expected.
  }
}

const mapped = readFileSync("/proc/self/maps", "utf8").matchAll(/ (\/.+)$/gm);
for (const path of new Set([...mapped].map(([, path]) => path))) process.stdout.write(`${path}\n`);
