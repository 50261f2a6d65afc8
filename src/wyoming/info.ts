import { spokenVoices, type Voices } from "../application/catalog/voices.ts";
import type { Voice } from "../domain/synthesis/speech.ts";
import { encodeEvent } from "./events.ts";

const attribution = { name: "Voxledger", url: "" };
const installed = { attribution, installed: true, version: null };

/**
 * The `info` event: one text-to-speech program with those voices of the website that this service
 * speaks. The last one is kept, because Home Assistant asks every 30 seconds.
 */
export const createInfo = (
  voices: Pick<Voices, "collection">,
  version: string,
): ((websiteId: string) => Buffer) => {
  let last: { readonly key: string; readonly event: Buffer } | undefined;
  return (websiteId) => {
    const collection = voices.collection(websiteId);
    const key = `${websiteId} ${collection.revision}`;
    if (last?.key !== key) {
      const offered = spokenVoices(collection).filter(({ deprecated }) => !deprecated);
      last = { key, event: infoEvent(offered, version) };
    }
    return last.event;
  };
};

const infoEvent = (voices: readonly Voice[], version: string): Buffer =>
  encodeEvent("info", {
    asr: [],
    tts: [
      {
        ...installed,
        name: "Voxledger",
        description: "Text to speech with a ledger",
        version,
        voices: voices.map(({ name, lang }) => ({
          ...installed,
          name,
          description: name,
          languages: [lang],
          speakers: null,
        })),
        supports_synthesize_streaming: true,
      },
    ],
    handle: [],
    intent: [],
    wake: [],
    mic: [],
    snd: [],
  });
