import type { Service, Sound } from "./service.ts";
import type { TextPart } from "./text-parts.ts";
import type { Delivery, Transport, Wanted } from "./transport.ts";

/** Downloads each part whole; while one is played, the next is on its way. */
export const chunkTransport = ({ synthesize }: Pick<Service, "synthesize">): Transport => ({
  async *deliver(parts, wanted, signal) {
    const left = new AbortController();
    const either = AbortSignal.any([signal, left.signal]);
    const download = (part: TextPart | undefined): Promise<Sound> | undefined => {
      const sound = part && synthesize(queryFor(part, wanted), either);
      sound?.catch(() => {}); // told when its turn comes, if it comes
      return sound;
    };
    try {
      let next = download(parts[0]);
      for (const [index, part] of parts.entries()) {
        const sound = (await next) as Sound;
        next = download(parts[index + 1]);
        yield delivery(part, sound);
      }
    } finally {
      left.abort();
    }
  },
});

const queryFor = ({ text }: TextPart, { voice, lang, prosody }: Wanted) => ({
  text,
  ...(voice === undefined ? { lang } : { voice }),
  pitch: unlessNormal(prosody.pitch),
  rate: unlessNormal(prosody.rate),
  volume: unlessNormal(prosody.volume),
});

/** The same speech has the same address, however it was asked for. */
const unlessNormal = (knob: number): number | undefined => (knob === 1 ? undefined : knob);

const delivery = (part: TextPart, { bytes, contentType, prosodyApplied }: Sound): Delivery => ({
  part,
  contentType,
  prosodyApplied,
  audio: whole(bytes),
});

async function* whole(bytes: Uint8Array<ArrayBuffer>) {
  if (bytes.length > 0) yield bytes;
}
