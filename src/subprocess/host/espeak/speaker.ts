import type { EspeakRequest } from "../../espeak.ts";
import { createWavWriter, readLines, reportDone, reportFailure, reportReady } from "../speaker-program.ts";
import { type EspeakLibrary, openEspeakLibrary } from "./library.ts";

/**
 * The program of a process that speaks one text at a time by the library. To end a text early, its
 * process is killed.
 */

/**
 * The process grows by 10 MB in its first 200 texts, and then by 25 KB per text, which the library
 * does not free. It is replaced after about 1,000 texts. The start of another process costs as much
 * CPU time as ten texts.
 */
const maxGrowthBytes = 32 * 1024 * 1024;

const main = (): void => {
  const library = open();
  if (!library) return;
  reportReady(library.version);
  const maxBytes = process.memoryUsage.rss() + maxGrowthBytes;
  for (const line of readLines()) {
    if (speak(library, JSON.parse(line) as EspeakRequest, maxBytes)) break;
    library.reset();
  }
  library.close();
};

const open = (): EspeakLibrary | undefined => {
  try {
    return openEspeakLibrary();
  } catch (error) {
    reportFailure(error);
    return undefined;
  }
};

/** Returns true if this was the last text. */
const speak = (library: EspeakLibrary, request: EspeakRequest, maxBytes: number): boolean => {
  try {
    const wav = createWavWriter(library.sampleRate);
    const events = library.speak(request, wav.add);
    wav.flush();
    const isLast = process.memoryUsage.rss() > maxBytes;
    reportDone({ events, isLast });
    return isLast;
  } catch (error) {
    reportFailure(error);
    return false;
  }
};

main();
