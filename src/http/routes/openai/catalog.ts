import type { Context } from "koa";
import { z } from "zod";
import type { Voices } from "../../../application/catalog/voices.ts";
import { sharedCatalog } from "../../../application/catalog/website-catalog.ts";
import { NotFound } from "../../../domain/errors.ts";
import { byokProviders, isByok } from "../../../domain/synthesis/byok-providers.ts";
import type { Voice } from "../../../domain/synthesis/speech.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import { type Operation, operationsWith, pathParams, resourceName } from "../../kernel/operation.ts";
import { respondTagged, taggedJson, taggedOperation, taggedResponses } from "../../kernel/tagged-content.ts";
import { createSerializedLists } from "../voices/serialized-lists.ts";
import { defaultModels, type ModelMap } from "./speech-request.ts";
import { voiceMapOf } from "./voice-map.ts";

const Model = namedSchema("OpenAiModel", {
  id: z.string(),
  object: z.literal("model"),
  created: z.int().meta({ description: "The same for all models." }),
  owned_by: z
    .string()
    .meta({ description: "`voxledger`, or the provider of the website's own credentials." }),
});

const ModelList = namedSchema("OpenAiModelList", { object: z.literal("list"), data: z.array(Model) });

const AudioModelList = namedSchema("OpenAiAudioModelList", {
  models: z.array(z.object({ id: z.string(), name: z.string() })),
});

const VoiceList = namedSchema("OpenAiVoiceList", {
  voices: z.array(
    z.object({
      id: z.string().meta({ description: "For `voice` of a speech request." }),
      name: z.string(),
      language: z.string().optional().meta({ description: "BCP-47; absent for OpenAI's names." }),
      gender: z.enum(["female", "male"]).optional(),
    }),
  ),
});

interface CatalogOptions {
  readonly voices: Pick<Voices, "collection" | "engines" | "isNamed">;
  readonly settings: {
    readonly openAiVoices: Readonly<Record<string, string>>;
    readonly openAiModels: ModelMap;
  };
}

const listOperation = operationsWith({
  method: "get",
  tag: "OpenAI",
  auth: "website, if it has credentials",
  ...taggedOperation,
});

/**
 * The lists of models and voices in the forms that clients of OpenAI's API read. A caller without
 * credentials gets the shared catalog.
 */
export const openAiCatalogOperations = (options: CatalogOptions): Operation[] => {
  const { voices, settings } = options;
  const modelsOf = (ctx: Context) => {
    const engines = voices.engines(catalogWebsite(ctx));
    const mapped = Object.entries(settings.openAiModels)
      .filter(([, engine]) => engine === "any" || engines.includes(engine))
      .map(([name]) => name);
    return [...new Set([...defaultModels, ...mapped, ...engines])].map((id) => modelOf(id));
  };
  const voiceList = createVoiceList(options);

  return [
    listOperation({
      path: "/openai/v1/models",
      id: "openAiModels",
      summary: "List the models: OpenAI's names, and the engines",
      responses: taggedResponses(ModelList),
      handle: (_, ctx) => respondTagged(ctx, taggedJson({ object: "list", data: modelsOf(ctx) })),
    }),
    listOperation({
      path: "/openai/v1/models/{model}",
      id: "openAiModel",
      summary: "Show a model",
      params: pathParams({ model: resourceName("The model's id.", "tts-1") }),
      responses: taggedResponses(Model),
      errors: [400, 404],
      handle: ({ params }, ctx) => {
        const model = modelsOf(ctx).find(({ id }) => id === params.model);
        if (!model) throw new NotFound("There is no such model.", "model");
        respondTagged(ctx, taggedJson(model));
      },
    }),
    listOperation({
      path: "/openai/v1/audio/models",
      id: "openAiAudioModels",
      summary: "List the models as Open WebUI reads them",
      responses: taggedResponses(AudioModelList),
      handle: (_, ctx) =>
        respondTagged(ctx, taggedJson({ models: modelsOf(ctx).map(({ id }) => ({ id, name: id })) })),
    }),
    listOperation({
      path: "/openai/v1/audio/voices",
      id: "openAiAudioVoices",
      summary: "List the voices as Open WebUI and Kokoro-FastAPI's clients read them",
      responses: taggedResponses(VoiceList),
      handle: (_, ctx) => respondTagged(ctx, voiceList(catalogWebsite(ctx))),
    }),
  ];
};

/** The list of a website's voices, preceded by OpenAI's names that stand for one of them. */
const createVoiceList = ({ voices, settings }: CatalogOptions) => {
  const voiceMap = voiceMapOf(settings.openAiVoices);
  return createSerializedLists(voices, (spoken, websiteId) => {
    const names = new Set(spoken.map(({ name }) => name));
    const mapped = voiceMap.entries
      .filter(([name, voice]) => !names.has(name) && voices.isNamed(websiteId, voice.name))
      .map(([name]) => ({ id: name, name }));
    return { voices: [...mapped, ...spoken.map(voiceOf)] };
  });
};

const voiceOf = ({ name, lang, gender }: Voice) => ({
  id: name,
  name,
  language: lang,
  gender: gender === "f" ? "female" : "male",
});

/** The website whose catalog the caller sees. */
const catalogWebsite = (ctx: Context): string => ctx.state.caller?.principal.websiteId ?? sharedCatalog;

/** This is 2026-01-01. Clients only display it. */
const created = 1_767_225_600;

const modelOf = (id: string): z.infer<typeof Model> => ({
  id,
  object: "model",
  created,
  owned_by: isByok(id) ? byokProviders[id].provider : "voxledger",
});
