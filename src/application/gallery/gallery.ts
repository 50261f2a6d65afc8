import type { View } from "../../../projections/runner/view.ts";
import { isSampleSpoken } from "../../../projections/samples.ts";
import { inTimeSlices } from "../../async/time-slices.ts";
import type { Rendition } from "../../audio/pipeline/pipeline.ts";
import type { CatalogIndex } from "../../domain/catalog/catalog-index.ts";
import { sampleSentence } from "../../domain/catalog/sample-sentences.ts";
import { licenceOf, qualities, type VoiceEngine, voiceEngine } from "../../domain/catalog/voice-engines.ts";
import { Invalid, NotFound } from "../../domain/errors.ts";
import type { Samples } from "../../domain/synthesis/audio-events.ts";
import { isByok } from "../../domain/synthesis/byok-providers.ts";
import {
  normalProsody,
  type ShortGender,
  type SystemVoice,
  type Voice,
} from "../../domain/synthesis/speech.ts";
import type { EpochMs } from "../../domain/time.ts";
import { type CatalogOf, sharedCatalog } from "../catalog/website-catalog.ts";
import type { Planner, SynthesisRequest } from "../synthesis/planner.ts";

/** A voice that this instance speaks without a website's credentials. */
export interface GalleryVoice {
  /** The friendly names that share the sample; if there are none, the name of the system voice. */
  readonly names: readonly string[];
  /** True if requests may name it as `voice`. */
  readonly isFriendly: boolean;
  readonly lang: string;
  readonly gender: ShortGender | undefined;
  readonly engine: VoiceEngine;
  /** Undefined if only the operator who added the voice knows it. */
  readonly licence: string | undefined;
  readonly sentence: string;
  readonly sample: Rendition;
}

interface GalleryOptions {
  readonly catalogOf: CatalogOf;
  /** Plans recipes that belong to no website. */
  readonly plan: Planner["plan"];
  readonly samples: View<Samples>;
  readonly clock: () => EpochMs;
}

export type Gallery = ReturnType<typeof createGallery>;

/** `Engine.version` of a voice that this instance lacks. */
const notInstalled = "none";

/** Engines may appear and disappear while the catalog stays the same. */
const staleMs = 60 * 60_000;

/** The voices of the shared catalog and their samples. Nothing is synthesized here. */
export const createGallery = ({ catalogOf, plan, samples, clock }: GalleryOptions) => {
  let last: { readonly revision: string; readonly at: number; readonly list: Promise<VoiceList> } | undefined;
  let stored: ReadonlySet<string> = new Set();

  const sampleOf: SampleOf = (lang, voice) => {
    try {
      const text = sampleSentence(lang);
      const request = { ...voice, text, textFormat: "plain", prosody: normalProsody } as const;
      const { renditions } = plan(request, sharedCatalog);
      return renditions.find(({ recipe }) => !isByok(recipe.engine) && recipe.tools !== notInstalled);
    } catch (error) {
      if (error instanceof NotFound || error instanceof Invalid) return undefined; // no engine here speaks it
      throw error;
    }
  };

  const listed = async (index: CatalogIndex): Promise<VoiceList> => {
    const voices = await listVoices(index, sampleOf);
    stored = new Set(voices.map(({ sample }) => sample.name));
    return voices;
  };

  return {
    /**
     * Lists the voices, the best first. Returns the same array until the catalog changes, for at
     * most an hour.
     * @throws {Unavailable}
     */
    voices: (): Promise<VoiceList> => {
      const { revision, index } = catalogOf(sharedCatalog);
      const at = clock();
      if (last?.revision === revision && at - last.at < staleMs) return last.list;
      const list = listed(index);
      const started = { revision, at, list };
      last = started;
      list.catch(() => {
        if (last === started) last = undefined;
      });
      return list;
    },
    /** @throws {Unavailable} */
    isSpoken: ({ sample }: GalleryVoice): boolean => isSampleSpoken(samples, sample.hash),
    /** True if the object is a sample of one of the voices that were listed last. */
    hasAudio: (name: string): boolean => stored.has(name),
  };
};

type VoiceList = readonly GalleryVoice[];

type SampleOf = (lang: string, voice: Partial<SynthesisRequest>) => Rendition | undefined;

/** Planning hundreds of samples takes half a second. */
const listVoices = async (index: CatalogIndex, sampleOf: SampleOf): Promise<VoiceList> => {
  const friendly = await friendlyVoices(index, sampleOf);
  const taken = new Set(friendly.map(({ sample }) => ownName(sample)));
  const others = await systemVoices(index, sampleOf);
  return [...friendly, ...others.filter(({ sample }) => !taken.has(ownName(sample)))].sort(byQuality);
};

/** Several names of the same voice share a sample. */
const friendlyVoices = async ({ voices }: CatalogIndex, sampleOf: SampleOf): Promise<GalleryVoice[]> => {
  const bySample = new Map<string, { voice: Voice; sample: Rendition; names: string[] }>();
  for await (const voice of inTimeSlices(voices)) {
    const sample = voice.deprecated ? undefined : sampleOf(voice.lang, { voice: voice.name });
    if (!sample) continue;
    const known = bySample.get(sample.hash);
    if (known) known.names.push(voice.name);
    else bySample.set(sample.hash, { voice, sample, names: [voice.name] });
  }
  return Array.from(bySample.values(), ({ voice, sample, names }) => ({
    names,
    isFriendly: true,
    ...described(voice, sample),
  }));
};

const systemVoices = async ({ systemVoices }: CatalogIndex, sampleOf: SampleOf): Promise<GalleryVoice[]> => {
  const found: GalleryVoice[] = [];
  for await (const voice of inTimeSlices(systemVoices)) {
    const { name, lang, service, deprecated } = voice;
    if (service === undefined || lang === undefined || deprecated) continue;
    const sample = sampleOf(lang, { engine: service, name, lang });
    if (sample?.systemVoice !== name) continue;
    found.push({ names: [name], isFriendly: false, ...described({ ...voice, lang }, sample) });
  }
  return found;
};

const described = (
  { lang, gender }: Pick<SystemVoice, "gender"> & { readonly lang: string },
  sample: Rendition,
) => ({
  lang,
  gender,
  engine: voiceEngine(sample.recipe.voice),
  licence: licenceOf(sample.recipe.voice),
  sentence: sample.recipe.text,
  sample,
});

const ownName = ({ recipe }: Rendition): string => `${recipe.engine} ${recipe.voice}`;

const byQuality = (a: GalleryVoice, b: GalleryVoice): number =>
  qualities.indexOf(a.engine.quality) - qualities.indexOf(b.engine.quality);
