import { hash } from "node:crypto";
import type { Rendition } from "../../audio/pipeline/pipeline.ts";
import { Invalid } from "../../domain/errors.ts";
import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import { audioName, publicUrlPath, type Recipe } from "../../domain/synthesis/recipe.ts";
import type { EngineCode, ProsodyParameter } from "../../domain/synthesis/speech.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Planner, SynthesisRequest } from "./planner.ts";

/** The name of the audio for a request. It is the same whether the audio exists or not. */
export interface AudioName {
  /**
   * It is absent if the caller must not know it: without credentials, `/audio/{name}` says whether
   * the audio exists.
   */
  readonly name?: string;
  /**
   * The path of the permanent URL, below that of PUBLIC_URL. Only public audio whose name is
   * present has it.
   */
  readonly path?: string;
  /** The SHA-256 of the name. It identifies the name but cannot be used as one. */
  readonly nameDigest: string;
  readonly format: AudioFormat;
  readonly voice: string;
  readonly engine: EngineCode;
  /** True if the recipe gives the same samples on every machine. */
  readonly reproducible: boolean;
  /** This has neither the text nor what identifies the website. */
  readonly recipe: PublicRecipe;
}

type PublicRecipe = Omit<Recipe, "text" | "websiteId" | "instructions" | "prosody" | "applied"> & {
  readonly prosody: Readonly<Partial<Record<ProsodyParameter, number>>>;
};

export interface NamedAudio extends AudioName {
  readonly characters: number;
  /** The audio for the request if the voices before it fail, in order. */
  readonly fallbacks: readonly AudioName[];
}

export type AudioNames = ReturnType<typeof createAudioNames>;

/** Names audio without a synthesis, a charge, or a look at the store. */
export const createAudioNames = ({
  plan,
  ledger,
}: Pick<Planner, "plan"> & { readonly ledger: Pick<Ledger, "wasCharged"> }) => {
  const named = (
    websiteId: string,
    request: SynthesisRequest,
    isKnown: (rendition: Rendition) => boolean,
  ): NamedAudio => {
    const { characters, muted, renditions } = plan(request, websiteId);
    if (muted) throw new Invalid([{ path: ["volume"], message: "At volume 0 there is no audio to name." }]);
    const [first, ...others] = renditions;
    const nameOf = (rendition: Rendition): AudioName => describe(rendition, isKnown(rendition));
    return { ...nameOf(first), characters, fallbacks: others.map(nameOf) };
  };
  return {
    /**
     * Returns a name only for private audio, and for audio for which the key was charged within ten
     * minutes.
     * @throws as `plan`
     */
    nameFor: (
      { apiKey, websiteId }: { readonly apiKey: string; readonly websiteId: string },
      request: SynthesisRequest,
    ): NamedAudio =>
      named(
        websiteId,
        request,
        ({ recipe, hash }) => recipe.websiteId !== undefined || ledger.wasCharged(apiKey, hash),
      ),
    /**
     * Always returns the name, for operators, who can read all names in the ledger.
     * @throws as `plan`
     */
    nameForOperator: (websiteId: string, request: SynthesisRequest): NamedAudio =>
      named(websiteId, request, () => true),
  };
};

const describe = (
  { hash: name, voice, recipe, isReproducible = false }: Rendition,
  isKnown: boolean,
): AudioName => {
  const { text, websiteId, instructions, prosody, applied, ...parts } = recipe;
  return {
    ...(isKnown && { name }),
    ...(isKnown && websiteId === undefined && { path: publicUrlPath(audioName(recipe, name)) }),
    nameDigest: hash("sha256", name),
    format: recipe.format,
    voice,
    engine: recipe.engine,
    reproducible: isReproducible,
    recipe: {
      ...parts,
      prosody: Object.fromEntries(applied.map((parameter) => [parameter, prosody[parameter]])),
    },
  };
};
