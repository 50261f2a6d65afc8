import type { KeyObject } from "node:crypto";
import type { Encoder } from "../../audio/formats/encoder.ts";
import type { Rendition } from "../../audio/pipeline/pipeline.ts";
import { type Candidate, resolveVoices } from "../../domain/catalog/voice-resolution.ts";
import { Invalid, NotFound, NothingToSpeak } from "../../domain/errors.ts";
import { type FindReplacements, replacementsDigest } from "../../domain/lexicons/replacements.ts";
import { isByok } from "../../domain/synthesis/byok-providers.ts";
import { countCharacters } from "../../domain/synthesis/count-characters.ts";
import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import { effectiveProsody } from "../../domain/synthesis/prosody.ts";
import { audioName, hashRecipe, type Recipe } from "../../domain/synthesis/recipe.ts";
import type { EngineCode, Gender, Prosody, TextFormat } from "../../domain/synthesis/speech.ts";
import { isSsml } from "../../domain/text/is-ssml.ts";
import { type MarkdownReading, markdownVersion, readMarkdown } from "../../domain/text/markdown.ts";
import { type PronouncedText, pronounce } from "../../domain/text/pronounce.ts";
import { parseSsml } from "../../domain/text/ssml.ts";
import { type Engine, noVersion } from "../../engines/engine.ts";
import { type CatalogOf, sharedCatalog } from "../catalog/website-catalog.ts";
import type { LexiconChoice, WebsiteLexicons } from "../lexicons/website-lexicons.ts";
import { documentFor } from "./document-voices.ts";

/** A validated and normalised synthesis request. */
export interface SynthesisRequest {
  readonly text: string;
  /** Default: SSML if the text begins with `<speak`, else plain. */
  readonly textFormat?: TextFormat | undefined;
  /**
   * The length of the text that was sent, if `text` is another one. Default: the length of `text`.
   */
  readonly characters?: number | undefined;
  readonly voice?: string | undefined;
  readonly lang?: string | undefined;
  readonly engine?: EngineCode | undefined;
  readonly name?: string | undefined;
  readonly gender?: Gender | undefined;
  readonly prosody: Prosody;
  readonly format?: AudioFormat | undefined;
  /**
   * True if `format` may be any format. Otherwise it must be one that `/v2` offers for the engine.
   */
  readonly anyFormat?: boolean | undefined;
  /** Instructions in words on how to speak. Voices that do not follow them ignore them. */
  readonly instructions?: string | undefined;
  /** Default: all lexicons of the website. */
  readonly lexicons?: readonly LexiconChoice[] | undefined;
}

/** The result of planning a website's request. It is valid until the website's voices change. */
export interface SynthesisPlan {
  readonly characters: number;
  /** True at volume 0: the response has no audio. */
  readonly muted: boolean;
  /** The renditions to try, best first; never empty. */
  readonly renditions: readonly [Rendition, ...Rendition[]];
  /** The revision of the shared catalog. A shared plan depends on nothing else. */
  readonly catalogRevision: string;
  /**
   * True if every website without lexicons gets the same plan: it has neither private audio nor the
   * replacements of a lexicon.
   */
  readonly shared: boolean;
}

/**
 * Finds the engine that speaks for the website; undefined if it is not running or the website has
 * no credentials for it.
 */
export type FindEngine = (code: EngineCode, websiteId: string) => Engine | undefined;

interface PlannerOptions {
  readonly findEngine: FindEngine;
  readonly encoderVersion: Encoder["version"];
  readonly namingKey: KeyObject;
  /** If false, no website gets audio that was made for another one. */
  readonly sharesAudio: boolean;
  readonly catalogOf: CatalogOf;
  readonly lexicons: WebsiteLexicons;
}

export type Planner = ReturnType<typeof createPlanner>;

/**
 * Plans a request in these steps, which read only views in memory:
 *
 * 1. The text is read in its format: plain, SSML or Markdown.
 * 2. The voices that may speak it are resolved, best first: one, and its fallbacks.
 * 3. For each voice whose engine runs here, the document gets the names by which the engine knows
 *    its voices, and the replacements of the website's lexicons. Its recipe then names the audio.
 * 4. The plan is shared if nothing in it depends on the website.
 */
export const createPlanner = (options: PlannerOptions) => {
  const { findEngine, namingKey, sharesAudio, catalogOf, lexicons } = options;
  const renditionFor = (candidate: Candidate, request: ParsedRequest): Rendition[] => {
    const { systemVoice, voiceName, lang } = candidate;
    const { text, websiteId, find, isNfc } = request;
    const engine = findEngine(candidate.engine, websiteId);
    if (!engine) return [];
    const takesPhonemes = engine.takesPhonemes?.(voiceName) ?? false;
    const {
      document = request.document,
      dialect,
      voices: named,
    } = isVoiced(request) ? documentFor(text, { ...candidate, engine }, catalogOf(websiteId).index) : {};
    const { reading, ...written } = writtenFor(engine.takesSsml(voiceName), document, request);
    const pronounced =
      find && pronounce({ ...written, text: written.source }, find, { lang, takesPhonemes }, dialect);
    const { document: said = text, ssml } = pronounced ?? written.spoken;
    const voices = engine.otherVoices?.({ text: said, ssml, voice: voiceName, lang }) ?? named;
    const recipe = recipeOf(candidate, request, { ...options, engine, pronounced, voices });
    const hash = hashRecipe(namingKey, recipe);
    const name = audioName(recipe, hash);
    const hasMarks = !isByok(engine.code) && isNfc && (engine.marks?.(voiceName) ?? false);
    const isReproducible = [voiceName, ...(voices ?? [])].every((each) => engine.isReproducible?.(each));
    const spoken = {
      ...(pronounced ?? written.spoken),
      ...(reading && { reading }),
      hasMarks,
      ...(isReproducible && { isReproducible }),
    };
    return [{ recipe, hash, name, ...spoken, voice: candidate.label, systemVoice: systemVoice.name }];
  };

  return {
    /**
     * @throws {Invalid}
     * @throws {NotFound} if there is no voice or engine for the request
     */
    plan: (request: SynthesisRequest, websiteId: string): SynthesisPlan => {
      const text = request.text.normalize("NFC");
      const textFormat = formatOf(request);
      const ssml = textFormat === "ssml";
      const document = ssml ? parseSsml(text) : undefined;
      const markdown = textFormat === "markdown" ? readMarkdown(text) : undefined;
      const isNfc = text === request.text;
      const takesSsml = ({ engine: code, voiceName }: Candidate): boolean => {
        const engine = findEngine(code, websiteId);
        // A voice that is not installed here is tried, because otherwise its fallback would count
        // as the requested voice.
        return (
          engine !== undefined && (engine.takesSsml(voiceName) || engine.version(voiceName) === noVersion)
        );
      };
      const candidates = resolveVoices(catalogOf(websiteId).index, { ...request, ssml }, takesSsml);
      const find = lexicons.of(websiteId, request.lexicons);
      const { prosody, instructions } = request;
      const parsed = { prosody, instructions, text, document, markdown, isNfc, websiteId, find };
      let refusal: Invalid | undefined;
      const [first, ...others] = candidates.flatMap((candidate) => {
        try {
          return renditionFor(candidate, parsed);
        } catch (error) {
          if (!(error instanceof Invalid)) throw error;
          refusal ??= error; // another candidate's engine may have the voices of the document
          return [];
        }
      });
      if (!first) throw refusal ?? noEngine(candidates);
      const renditions = [first, ...others] as const;
      const isOwn = candidates.some(({ engine }) => isByok(engine));
      const isReplaced = renditions.some(({ replacements }) => replacements);
      return {
        characters: request.characters ?? countCharacters(request.text),
        muted: prosody.volume === 0,
        renditions,
        catalogRevision: catalogOf(sharedCatalog).revision,
        // A `<voice>` may name one voice in the shared catalog, and another one in a website's
        // catalog.
        shared: sharesAudio && !isOwn && !isReplaced && !(ssml && text.includes("<voice")),
      };
    },
    /**
     * True if a shared plan was made from the current catalog, while its first voice was installed.
     */
    isCurrent: ({ catalogRevision, renditions: [first] }: SynthesisPlan): boolean =>
      catalogOf(sharedCatalog).revision === catalogRevision && first.recipe.tools !== noVersion,
    /** False if the website's plans may differ from shared ones. */
    usesSharedPlans: (websiteId: string): boolean => lexicons.isEmpty() || !lexicons.has(websiteId),
  };
};

interface ParsedRequest {
  /** The text in NFC. */
  readonly text: string;
  /** SSML in canonical form, for engines that have no other voices and no elements of their own. */
  readonly document: string | undefined;
  readonly markdown: ReturnType<typeof readMarkdown> | undefined;
  /**
   * False if the text was not sent in NFC: places in `text` are then not those in the sent text.
   */
  readonly isNfc: boolean;
  readonly prosody: Prosody;
  readonly instructions: string | undefined;
  readonly websiteId: string;
  /** Finds the replacements of the website's lexicons. */
  readonly find: FindReplacements | undefined;
}

/** @throws {Invalid} for `text`, if the text should be SSML but is not */
const formatOf = ({ text, textFormat }: SynthesisRequest): TextFormat => {
  if (textFormat === undefined) return isSsml(text) ? "ssml" : "plain";
  if (textFormat !== "ssml" || isSsml(text)) return textFormat;
  throw new Invalid([{ path: ["text"], message: "SSML must begin with <speak>." }]);
};

/**
 * Returns what a voice speaks without lexicons (`spoken`), and the text to which lexicons apply
 * (`source`).
 * @throws {Invalid} if there is nothing to speak
 */
const writtenFor = (
  takesSsml: boolean,
  document: string | undefined,
  { text, markdown }: ParsedRequest,
): {
  readonly source: string;
  readonly ssml: boolean;
  readonly spoken: Pick<Rendition, "ssml" | "document">;
  readonly reading?: MarkdownReading["replacements"];
} => {
  if (!markdown) {
    const ssml = document !== undefined;
    return { source: text, ssml, spoken: ssml ? { ssml, document } : { ssml } };
  }
  const { document: source, ssml, replacements: reading } = markdown(takesSsml);
  if (source.trim() === "") throw new NothingToSpeak();
  return { source, ssml, spoken: { ssml, document: ssml ? parseSsml(source) : source }, reading };
};

/**
 * True if the document depends on the candidate: on its engine's names of voices, or the elements
 * that it takes.
 */
const isVoiced = ({ text, document }: ParsedRequest): boolean =>
  document !== undefined && /<(?:voice|lang|mstts:)/.test(text);

const recipeOf = (
  { systemVoice, voiceName, format, lang }: Candidate,
  { text, document, markdown, prosody, websiteId, instructions }: ParsedRequest,
  {
    engine,
    encoderVersion,
    sharesAudio,
    pronounced,
    voices = [],
  }: Pick<PlannerOptions, "encoderVersion" | "sharesAudio"> & {
    readonly engine: Engine;
    readonly pronounced: PronouncedText | undefined;
    readonly voices: readonly string[] | undefined;
  },
): Recipe => {
  const byok = isByok(engine.code);
  const isKept = byok || [voiceName, ...voices].some((voice) => engine.isExact?.(voice) === false);
  return {
    engine: engine.code,
    tools: engine.version(voiceName),
    ...(!isKept && { encoding: encoderVersion(format) }),
    voice: voiceName,
    lang,
    text,
    textFormat: markdown ? `markdown ${markdownVersion}` : document === undefined ? "plain" : "ssml",
    prosody: effectiveProsody(prosody, systemVoice),
    applied: engine.prosody(voiceName),
    format,
    ...((byok || !sharesAudio) && { websiteId }),
    ...(pronounced && { replacements: replacementsDigest(pronounced.replacements) }),
    ...(instructions && engine.takesInstructions?.(voiceName) && { instructions }),
    ...(voices.length > 0 && { voices: voices.map((voice) => `${voice}: ${engine.version(voice)}`) }),
  };
};

const noEngine = (candidates: readonly Candidate[]): NotFound => {
  const codes = [...new Set(candidates.map(({ engine }) => engine))];
  const why = codes.every(isByok) ? "the website has no credentials for it" : "it is not running here";
  return new NotFound(`There is no provider for the engine ${codes.join(", ")}: ${why}.`, "engine");
};
