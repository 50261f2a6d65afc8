import type { Context } from "koa";
import { z } from "zod";
import { spokenVoices, type Voices } from "../../../application/catalog/voices.ts";
import { isInRange, languageRange } from "../../../domain/catalog/language-match.ts";
import { Invalid, NotFound } from "../../../domain/errors.ts";
import type { Voice } from "../../../domain/synthesis/speech.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import { type Operation, pathParams, queryParams } from "../../kernel/operation.ts";
import { websiteOf } from "../../kernel/request-state.ts";
import { respondTagged, taggedJson, taggedResponses } from "../../kernel/tagged-content.ts";
import { createSerializedLists } from "../voices/serialized-lists.ts";
import { commonModel, languageOf, listOperation } from "./models.ts";
import { requestedVoiceName, voiceId, voiceIdOf } from "./voice-id.ts";

const ElevenLabsVoice = namedSchema("ElevenLabsVoice", {
  voice_id: z.string(),
  name: z.string(),
  category: z.literal("premade"),
  labels: z.record(z.string(), z.string()).meta({
    description:
      "`language`, `locale` (BCP-47), `gender`, and `provider` of voices on the website's own credentials.",
  }),
  description: z.null(),
  preview_url: z.null(),
  settings: z.null(),
  available_for_tiers: z.array(z.string()),
  high_quality_base_model_ids: z.array(z.string()),
  verified_languages: z.array(z.object({ language: z.string(), model_id: z.string(), locale: z.string() })),
  is_owner: z.boolean(),
  is_legacy: z.boolean(),
});

const present = ({ name, lang, gender, provider }: Voice): z.output<typeof ElevenLabsVoice> => ({
  voice_id: voiceIdOf(name),
  name,
  category: "premade",
  labels: {
    language: languageOf(lang),
    locale: lang,
    gender: genderOf(gender),
    ...(provider !== undefined && { provider }),
  },
  description: null,
  preview_url: null,
  settings: null,
  available_for_tiers: [],
  high_quality_base_model_ids: [],
  verified_languages: [{ language: languageOf(lang), model_id: commonModel, locale: lang }],
  is_owner: false,
  is_legacy: false,
});

const genderOf = (gender: Voice["gender"]): string => (gender === "f" ? "female" : "male");

/** A parameter that may be repeated. */
const oneOrMore = <Item extends z.ZodType<string>>(item: Item) =>
  z.union([item.transform((one) => [one]), z.array(item).max(100)]).optional();

const pageQuery = z.object({
  page_size: z.coerce.number().int().min(1).max(100).default(10),
  next_page_token: voiceId.optional().meta({ description: "As in the previous page." }),
  search: z
    .string()
    .max(200)
    .optional()
    .meta({ description: "A part of the name or of a label.", examples: ["oxford"] }),
  sort: z.enum(["name", "created_at_unix"]).optional(),
  sort_direction: z.enum(["asc", "desc"]).default("asc"),
  voice_type: z
    .enum(["personal", "community", "default", "workspace", "non-default", "non-community", "saved"])
    .optional()
    .meta({
      description: "`default`: the service's voices. `workspace`: those on the website's own credentials.",
    }),
  category: z.string().max(100).optional(),
  gender: z.string().max(100).optional(),
  language: oneOrMore(z.string().max(35).regex(languageRange)).meta({
    description: "BCP-47 language ranges: `en` includes en-GB.",
  }),
  voice_ids: oneOrMore(voiceId).meta({ description: "Only these voices." }),
});

type VoiceQuery = z.output<typeof pageQuery>;

const VoicePage = namedSchema("ElevenLabsVoicePage", {
  voices: z.array(ElevenLabsVoice),
  has_more: z.boolean(),
  total_count: z.int(),
  next_page_token: z.string().nullable(),
});

/** The voices that the service speaks. Those that only browsers have are left out. */
export const elevenLabsVoiceOperations = ({ voices }: { readonly voices: Voices }): Operation[] => {
  const spokenOf = (ctx: Context): readonly Voice[] => spokenVoices(voices.collection(websiteOf(ctx)));
  const listOf = createSerializedLists(voices, (spoken) => ({ voices: spoken.map(present) }));

  return [
    listOperation({
      path: "/elevenlabs/v1/voices",
      id: "elevenLabsVoices",
      summary: "List all voices",
      responses: taggedResponses(z.object({ voices: z.array(ElevenLabsVoice) })),
      handle: (_, ctx) => respondTagged(ctx, listOf(websiteOf(ctx))),
    }),
    listOperation({
      path: "/elevenlabs/v1/voices/{voice_id}",
      id: "elevenLabsVoice",
      summary: "Show a voice",
      params: pathParams({ voice_id: voiceId }),
      responses: taggedResponses(ElevenLabsVoice),
      errors: [400, 404],
      handle: ({ params }, ctx) => {
        const named = new Map(spokenOf(ctx).map((one) => [one.name, one]));
        const voice = named.get(requestedVoiceName(params.voice_id, (name) => named.has(name)));
        if (!voice) throw new NotFound("There is no voice of that id.", "voice");
        respondTagged(ctx, taggedJson(present(voice)));
      },
    }),
    listOperation({
      path: "/elevenlabs/v2/voices",
      id: "elevenLabsVoicePages",
      summary: "Search the voices, page by page",
      query: queryParams(pageQuery),
      errors: [400],
      responses: taggedResponses(VoicePage),
      handle: ({ query }, ctx) => {
        const found = spokenOf(ctx).filter(matches(query));
        respondTagged(ctx, taggedJson(pageOf(sorted(found, query), query)));
      },
    }),
  ];
};

const matches =
  ({ search, voice_type, category, gender, language, voice_ids }: VoiceQuery) =>
  (voice: Voice): boolean => {
    const { labels, name, voice_id } = present(voice);
    const words = [name, ...Object.values(labels)].map((word) => word.toLowerCase());
    return (
      (search === undefined || words.some((word) => word.includes(search.toLowerCase()))) &&
      (voice_type === undefined || isOfType(voice, voice_type)) &&
      (category === undefined || category === "premade") &&
      (gender === undefined || labels.gender === gender.toLowerCase()) &&
      (language === undefined || language.some((range) => isInRange(voice.lang, range))) &&
      (voice_ids === undefined || voice_ids.includes(voice_id))
    );
  };

const isOfType = ({ isByok = false }: Voice, type: NonNullable<VoiceQuery["voice_type"]>): boolean => {
  if (type === "personal" || type === "community") return false;
  return type === "default" ? !isByok : isByok;
};

/** Sorts voices by name, or in the order in which they were added to the catalog. */
const sorted = (voices: readonly Voice[], { sort, sort_direction }: VoiceQuery): readonly Voice[] => {
  const byName = (a: Voice, b: Voice): number => (a.name < b.name ? -1 : 1);
  const ascending = sort === "name" ? voices.toSorted(byName) : voices;
  return sort_direction === "asc" ? ascending : ascending.toReversed();
};

/**
 * A page's token is the id of its last voice.
 * @throws {Invalid} for the id of a voice that is not in the list
 */
const pageOf = (
  voices: readonly Voice[],
  { page_size, next_page_token: token }: VoiceQuery,
): z.output<typeof VoicePage> => {
  const last = token === undefined ? -1 : voices.findIndex(({ name }) => voiceIdOf(name) === token);
  if (token !== undefined && last === -1) {
    throw new Invalid([
      { path: ["next_page_token"], message: "It is not the token of a page of this list." },
    ]);
  }
  const page = voices.slice(last + 1, last + 1 + page_size).map(present);
  const hasMore = last + 1 + page_size < voices.length;
  return {
    voices: page,
    has_more: hasMore,
    total_count: voices.length,
    next_page_token: hasMore ? (page.at(-1)?.voice_id ?? null) : null,
  };
};
