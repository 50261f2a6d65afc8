import { z } from "zod";
import type { Voices } from "../../../application/catalog/voices.ts";
import { languageTag } from "../../../domain/catalog/voice-schema.ts";
import type { EngineCode, Voice } from "../../../domain/synthesis/speech.ts";
import { literals, namedSchema } from "../../kernel/named-schema.ts";
import { type Operation, operationsWith } from "../../kernel/operation.ts";
import { websiteOf } from "../../kernel/request-state.ts";
import { respondTagged, taggedJson, taggedOperation, taggedResponses } from "../../kernel/tagged-content.ts";
import { engineNamed } from "../synthesis/request.ts";

/**
 * The models that ElevenLabs' clients request by default. Some clients do not work if the list of
 * models lacks them. Any engine speaks for them.
 */
const defaultModels = [
  "eleven_multilingual_v2",
  "eleven_flash_v2_5",
  "eleven_turbo_v2_5",
  "eleven_v3",
] as const;

/** The model that the lists of voices name. */
export const [commonModel] = defaultModels;

/**
 * Finds the engine that a model chooses; undefined if it chooses none.
 * @throws {NotFound}
 */
export const engineOfModel = (model: string | null | undefined): EngineCode | undefined => {
  if (!model || model.startsWith("eleven_")) return undefined;
  return engineNamed(model, commonModel);
};

/** The language without its region: `en`. */
export const languageOf = (lang: string): string => lang.split("-", 1)[0] ?? lang;

const capabilities = {
  can_do_text_to_speech: true,
  can_be_finetuned: false,
  can_do_voice_conversion: false,
  can_use_style: false,
  can_use_speaker_boost: false,
  serves_pro_voices: false,
  requires_alpha_access: false,
  token_cost_factor: 1,
} as const;

const rates = { character_cost_multiplier: 1 } as const;

const Model = namedSchema("ElevenLabsModel", {
  model_id: z.string(),
  name: z.string(),
  description: z.string(),
  ...literals(capabilities),
  maximum_text_length_per_request: z.int(),
  languages: z.array(z.object({ language_id: z.string(), name: z.string() })),
  model_rates: z.object(literals(rates)),
});

export const listOperation = operationsWith({
  method: "get",
  tag: "ElevenLabs",
  auth: "website",
  ...taggedOperation,
});

interface ModelOptions {
  readonly voices: Pick<Voices, "collection" | "engines">;
  readonly settings: { readonly maxTextCharacters: number };
}

export const elevenLabsModelsOperation = ({ voices, settings }: ModelOptions): Operation =>
  listOperation({
    path: "/elevenlabs/v1/models",
    id: "elevenLabsModels",
    summary: "List the models: ElevenLabs' names, which speak with any engine, and the engines",
    responses: taggedResponses(z.array(Model)),
    handle: (_, ctx) => {
      const websiteId = websiteOf(ctx);
      const languages = languagesOf(voices.collection(websiteId).voices);
      const model = (id: string, description: string): z.output<typeof Model> => ({
        model_id: id,
        name: id,
        description,
        ...capabilities,
        model_rates: rates,
        maximum_text_length_per_request: settings.maxTextCharacters,
        languages,
      });
      const models = [
        ...defaultModels.map((id) => model(id, "The engines that have the voice, in the service's order.")),
        ...voices.engines(websiteId).map((code) => model(code, `The engine ${code} alone.`)),
      ];
      respondTagged(ctx, taggedJson(models));
    },
  });

const languagesOf = (voices: readonly Voice[]) => {
  const names = new Intl.DisplayNames("en", { type: "language" });
  return [...new Set(voices.map(({ lang }) => languageOf(lang)))].toSorted().map((id) => ({
    language_id: id,
    name: (languageTag.safeParse(id).success && names.of(id)) || id,
  }));
};
