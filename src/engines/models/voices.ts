import { createHash } from "node:crypto";
import { type FreeEngine, freeEngines } from "../../domain/synthesis/speech.ts";
import { firstVoiceIds, idsOfProvider } from "../../domain/synthesis/voice-ids.ts";
import type { ConfiguredVoice } from "../configured-voices.ts";
import type { ModelPack, PackSpeaker } from "./pack.ts";

const provider = "sherpa-onnx";
export const modelPrefix = "sherpa";

/** The voice's name for the engine, without the prefix: `vits-piper-en_US-lessac-medium#0`. */
export const voiceNameOf = ({ name }: Pick<ModelPack, "name">, { id }: Pick<PackSpeaker, "id">): string =>
  `${name}#${id}`;

/**
 * The voices of the packs. Two voices of one engine never have the same name: the second is named
 * by its pack.
 */
export const voicesOfPacks = (
  packs: ReadonlyMap<FreeEngine, readonly ModelPack[]>,
): readonly ConfiguredVoice[] => {
  const ids = new Set<number>();
  return freeEngines.flatMap((engine) => {
    const names = new Set<string>();
    return (packs.get(engine) ?? []).flatMap((pack) =>
      pack.speakers.map((speaker): ConfiguredVoice => {
        const own = voiceNameOf(pack, speaker);
        const name = names.has(speaker.name) ? own.replace(/#0$/, "") : speaker.name;
        names.add(name);
        const { lang, gender } = speaker;
        const voiceName = `${modelPrefix}:${own}`;
        return { id: idOf(`${engine} ${voiceName}`, ids), engine, name, lang, gender, voiceName, provider };
      }),
    );
  });
};

/**
 * Derives the id from the voice. It depends on other packs only if one of their voices has the same
 * id, which is rare.
 */
const idOf = (voice: string, taken: Set<number>): number => {
  let offset = createHash("sha256").update(voice).digest().readUInt32BE() % idsOfProvider;
  while (taken.has(firstVoiceIds.models + offset)) offset = (offset + 1) % idsOfProvider;
  taken.add(firstVoiceIds.models + offset);
  return firstVoiceIds.models + offset;
};
