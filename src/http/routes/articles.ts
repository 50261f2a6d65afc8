import { z } from "zod";
import type { ArticlePart, Articles, PreparedPart } from "../../application/articles/articles.ts";
import type { AudioAddresses } from "../../application/articles/audio-addresses.ts";
import { countCharacters } from "../../domain/synthesis/count-characters.ts";
import { v2Formats } from "../../domain/synthesis/formats.ts";
import { marksName } from "../../domain/synthesis/marks.ts";
import { publicUrlPath } from "../../domain/synthesis/recipe.ts";
import { speakingSeconds } from "../../domain/synthesis/speaking-time.ts";
import { type EngineCode, prosodyParameters } from "../../domain/synthesis/speech.ts";
import { noStore } from "../caching/cache-control.ts";
import { namedSchema } from "../kernel/named-schema.ts";
import { json, jsonRequest, type Operation, operation } from "../kernel/operation.ts";
import type { PublicUrl } from "../kernel/public-url.ts";
import { callerIn } from "../kernel/request-state.ts";
import { format, prosodyMembers, spokenText, voiceMembers } from "./synthesis/request.ts";

const maxParts = 200;
const maxArticleCharacters = 100_000;

interface ArticleOptions {
  readonly articles: Pick<Articles, "prepare">;
  readonly audioAddresses: Pick<AudioAddresses, "sign">;
  readonly publicUrl: PublicUrl;
  readonly settings: { readonly maxTextCharacters: number };
}

const { voice, lang } = voiceMembers;

/** The members of the article are those of each part that lacks them. */
const articleRequest = (maxTextCharacters: number) => {
  const part = z.object({
    id: z
      .string()
      .min(1)
      .max(100)
      .meta({ description: "Names the part in the response.", examples: ["p1"] }),
    text: partText(maxTextCharacters),
    voice: voice.meta({ description: "With `voice` or `lang`, the part uses neither of the article." }),
    lang,
  });
  return z
    .object({
      parts: z
        .array(part)
        .min(1)
        .max(maxParts)
        .refine(hasUniqueIds, "The ids of the parts must differ.")
        .refine(isInLength, `The parts have more than ${maxArticleCharacters} characters together.`)
        .meta({ description: "The parts of the article, in the order in which they are read." }),
      ...{ voice, lang, format, ...prosodyMembers },
    })
    .superRefine(({ parts, voice, lang }, { addIssue }) => {
      for (const [index, part] of parts.entries()) {
        if ([voice, lang, part.voice, part.lang].some((given) => given !== undefined)) continue;
        const message = "Either voice or lang is required.";
        addIssue({ code: "custom", path: ["parts", index, "lang"], message });
      }
    })
    .meta({ id: "ArticleRequest" });
};

/** A blank part is silent: pages have empty paragraphs. */
const partText = (maxCharacters: number) =>
  z
    .string()
    .refine((text) => text.isWellFormed(), "text contains a lone surrogate.")
    .refine(
      (text) => countCharacters(text) <= maxCharacters,
      `text is longer than ${maxCharacters} characters.`,
    )
    .meta({
      ...spokenText(maxCharacters, "text").meta(),
      minLength: 0,
    });

const hasUniqueIds = (parts: readonly { readonly id: string }[]): boolean =>
  new Set(parts.map(({ id }) => id)).size === parts.length;

const isInLength = (parts: readonly { readonly text: string }[]): boolean =>
  parts.reduce((sum, { text }) => sum + countCharacters(text), 0) <= maxArticleCharacters;

type ArticleBody = z.output<ReturnType<typeof articleRequest>>;

const partsOf = ({ parts, voice, lang, format, pitch, rate, volume }: ArticleBody): ArticlePart[] =>
  parts.map(({ id, text, ...own }) => ({
    id,
    request: {
      ...(own.voice === undefined && own.lang === undefined ? { voice, lang } : own),
      ...{ text, format, prosody: { pitch, rate, volume } },
    },
  }));

const seconds = z.number().min(0);

const ArticlePartResponse = namedSchema("ArticlePart", {
  id: z.string(),
  state: z.enum(["ready", "pending", "failed"]).meta({
    description:
      "`ready`: the audio exists. `pending`: it will be spoken, and a request for `url` waits for it. `failed`: no voice can speak the part.",
  }),
  url: z.url().optional().meta({
    description:
      "The address of the audio, without credentials. It is the same for every reader, and is cached for ever; that of private audio is valid for a day. Absent if the part has no audio.",
  }),
  characters: z
    .int()
    .min(0)
    .meta({ description: "What the part is charged, once per website and month (UTC); 0 without audio." }),
  seconds: seconds.optional().meta({
    description: "The duration of the audio, if it is ready; 0 if nothing of the text is spoken.",
  }),
  marks: z.url().optional().meta({ description: "The address of the marks, if the voice reports them." }),
  format: z.enum(v2Formats).optional(),
  voice: z.string().optional().meta({ description: "As in the ledger's entries." }),
  lang: z.string().optional(),
  prosodyApplied: z.array(z.enum(prosodyParameters)).optional().meta({
    description: "Which of pitch, rate and volume the audio reflects.",
  }),
  error: z
    .object({ message: z.string() })
    .optional()
    .meta({ description: "The reason, if the part has failed." }),
});

const ArticleResponse = namedSchema("Article", {
  format: z.enum(v2Formats).optional().meta({ description: "The format of the first part with audio." }),
  parts: z.array(ArticlePartResponse),
  total: z.object({
    characters: z.int().min(0).meta({ description: "Parts with the same audio count once." }),
    seconds: seconds.meta({ description: "The duration of all parts; an estimate for those pending." }),
    exact: z.boolean().meta({ description: "True if no part is pending." }),
  }),
});

/** `POST /v2/articles`: the parts of a page, prepared as one request. */
export const articleOperation = ({
  articles,
  audioAddresses,
  publicUrl,
  settings,
}: ArticleOptions): Operation =>
  operation({
    method: "post",
    path: "/v2/articles",
    id: "prepareArticle",
    tag: "Synthesis",
    summary: "Prepare the parts of an article as one request",
    description:
      "The response leaves before anything is spoken. The parts are spoken in their order; the same request later says which are ready. Each part is charged once per website, calendar month (UTC) and audio, for any number of readers. An article whose uncharged parts exceed the quota is refused: nothing is spoken or charged. It counts as one request per minute; the requests for its audio do not count.",
    auth: "website",
    cache: [noStore],
    body: jsonRequest(articleRequest(settings.maxTextCharacters), {
      voice: "UK English Female",
      parts: [
        { id: "title", text: "The train to Oxford" },
        { id: "p1", text: "It leaves at nine." },
      ],
    }),
    responses: {
      200: { description: "The parts, in the order of the request.", content: json(ArticleResponse) },
    },
    errors: [404, 503],
    handle: async ({ body }, ctx) => {
      const { principal } = callerIn(ctx.state);
      const article = await articles.prepare(principal, ctx.state.requestId, partsOf(body));
      const address = addressesFor(publicUrl(ctx.req), principal.apiKey, audioAddresses);
      const parts = article.parts.map((part) => presentPart(part, address));
      return {
        ...withFormat(parts),
        parts,
        total: {
          characters: article.characters,
          seconds: rounded(article.parts.reduce((sum, part) => sum + secondsOf(part), 0)),
          exact: article.parts.every(({ state }) => state !== "pending"),
        },
      };
    },
  });

type Address = (name: string, engine: EngineCode) => string;

const addressesFor =
  (base: string, apiKey: string, { sign }: Pick<AudioAddresses, "sign">): Address =>
  (name, engine) => {
    const query = new URLSearchParams(sign(name, apiKey, engine));
    return `${base}${publicUrlPath(name.replace(/^private/, "public"))}?${query}`;
  };

type PartResponse = z.output<typeof ArticlePartResponse>;

const presentPart = (part: PreparedPart, address: Address): PartResponse => {
  const { id, characters, state } = part;
  if (state === "silent") return { id, state: "ready", characters, seconds: 0 };
  if (state === "failed") return { id, state, characters, error: { message: part.error.message } };
  const { name, recipe, hasMarks, voice } = part.rendition;
  const isPublic = recipe.websiteId === undefined;
  return {
    ...{ id, state, url: address(name, recipe.engine), characters },
    ...(state === "ready" && { seconds: secondsOf(part) }),
    ...(hasMarks && isPublic && { marks: address(marksName(name), recipe.engine) }),
    format: recipe.format as PartResponse["format"],
    ...{ voice, lang: recipe.lang, prosodyApplied: [...recipe.applied] },
  };
};

const withFormat = (parts: readonly PartResponse[]) => {
  const format = parts.find((part) => part.format)?.format;
  return format && { format };
};

/** The measured duration of audio that is ready; of pending audio an estimate. */
const secondsOf = (part: PreparedPart): number => {
  if (part.state === "ready") return rounded(part.length.samples / part.length.sampleRate);
  if (part.state !== "pending") return 0;
  const { rate } = part.request.prosody;
  return speakingSeconds(part.request.text) / Math.max(rate, slowest);
};

/** Engines speak no slower than about this rate. */
const slowest = 0.5;

const rounded = (seconds: number): number => Math.round(seconds * 1_000) / 1_000;
