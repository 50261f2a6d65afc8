import type { Context } from "koa";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { spokenVoices, type VoiceCollection, type Voices } from "../../../application/catalog/voices.ts";
import { sharedCatalog } from "../../../application/catalog/website-catalog.ts";
import { byokProviders, isByok } from "../../../domain/accounts/byok-providers.ts";
import { NotFound } from "../../../domain/errors.ts";
import type { Voice } from "../../../domain/synthesis/speech.ts";
import { replyTagged, type TaggedContent, taggedJson } from "../../caching/tagged-content.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import {
  type Declaration,
  type Operation,
  operation,
  pathParams,
  resourceName,
} from "../../kernel/operation.ts";
import { taggedOperation, taggedResponses } from "../../kernel/tagged-operation.ts";
import { defaultModels } from "./speech-request.ts";
import { voiceMapOf } from "./voice-map.ts";

export interface OpenAiCatalogOptions {
  readonly voices: Pick<Voices, "collection" | "engines" | "isNamed">;
  readonly settings: { readonly openAiVoices: Readonly<Record<string, string>> };
}

/** Serialized lists of voices in memory, one per catalog. */
const maxCachedLists = 50;

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

/** The lists of models and voices in the forms that clients of OpenAI's API read. Without credentials: the shared catalog. */
export const openAiCatalogOperations = ({ voices, settings }: OpenAiCatalogOptions): Operation[] => {
  const modelsOf = (ctx: Context) => [
    ...defaultModels.map((id) => modelOf(id)),
    ...voices.engines(catalogWebsite(ctx)).map((id) => modelOf(id)),
  ];
  const voiceMap = voiceMapOf(settings.openAiVoices);
  const lists = new LRUCache<string, TaggedContent>({ max: maxCachedLists });
  const voiceList = (websiteId: string, collection: VoiceCollection): TaggedContent => {
    const known = lists.get(collection.revision);
    if (known) return known;
    const spoken = spokenVoices(collection);
    const names = new Set(spoken.map(({ name }) => name));
    const mapped = [...voiceMap]
      .filter(([name, voice]) => !names.has(name) && voices.isNamed(websiteId, voice))
      .map(([name]) => ({ id: name, name }));
    const list = taggedJson({ voices: [...mapped, ...spoken.map(voiceOf)] });
    lists.set(collection.revision, list);
    return list;
  };

  return [
    listOperation({
      path: "/openai/v1/models",
      id: "openAiModels",
      summary: "List the models: OpenAI's names, and the engines",
      responses: taggedResponses(ModelList),
      handle: (_, ctx) => replyTagged(ctx, taggedJson({ object: "list", data: modelsOf(ctx) })),
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
        replyTagged(ctx, taggedJson(model));
      },
    }),
    listOperation({
      path: "/openai/v1/audio/models",
      id: "openAiAudioModels",
      summary: "List the models as Open WebUI reads them",
      responses: taggedResponses(AudioModelList),
      handle: (_, ctx) =>
        replyTagged(ctx, taggedJson({ models: modelsOf(ctx).map(({ id }) => ({ id, name: id })) })),
    }),
    listOperation({
      path: "/openai/v1/audio/voices",
      id: "openAiAudioVoices",
      summary: "List the voices as Open WebUI and Kokoro-FastAPI's clients read them",
      responses: taggedResponses(VoiceList),
      handle: (_, ctx) => {
        const websiteId = catalogWebsite(ctx);
        replyTagged(ctx, voiceList(websiteId, voices.collection(websiteId)));
      },
    }),
  ];
};

const voiceOf = ({ name, lang, gender }: Voice) => ({
  id: name,
  name,
  language: lang,
  gender: gender === "f" ? "female" : "male",
});

/** The website whose catalog the caller sees. */
const catalogWebsite = (ctx: Context): string => ctx.state.caller?.principal.websiteId ?? sharedCatalog;

/** 2026-01-01. Clients only display it. */
const created = 1_767_225_600;

const modelOf = (id: string): z.infer<typeof Model> => ({
  id,
  object: "model",
  created,
  owned_by: isByok(id) ? byokProviders[id].provider : "voxledger",
});

type List<Params> = Omit<
  Declaration<Params, never, never>,
  "method" | "tag" | "auth" | "cache" | "headers" | "query" | "body"
>;

const listOperation = <Params>(declaration: List<Params>): Operation =>
  operation({
    ...declaration,
    method: "get",
    tag: "OpenAI",
    auth: "website, if it has credentials",
    ...taggedOperation,
  });
