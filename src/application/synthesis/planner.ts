import type { Rendition } from "../../audio/pipeline/pipeline.ts";
import { isByok } from "../../domain/accounts/byok-providers.ts";
import { type Candidate, resolveVoices } from "../../domain/catalog/voice-resolution.ts";
import { NotFound } from "../../domain/errors.ts";
import { countCharacters } from "../../domain/synthesis/count-characters.ts";
import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import { effectiveProsody } from "../../domain/synthesis/prosody.ts";
import { hashRecipe, objectName, type Recipe } from "../../domain/synthesis/recipe.ts";
import type { EngineCode, Gender, Prosody } from "../../domain/synthesis/speech.ts";
import type { Engine } from "../../engines/engine.ts";
import { isSsml, parseSsml } from "../../engines/text/ssml.ts";
import type { CatalogOf } from "../catalog/website-catalog.ts";

/** A validated and normalised synthesis request. */
export interface SynthesisRequest {
  readonly text: string;
  readonly voice?: string | undefined;
  readonly lang?: string | undefined;
  readonly engine?: EngineCode | undefined;
  readonly name?: string | undefined;
  readonly gender?: Gender | undefined;
  readonly prosody: Prosody;
  readonly format?: AudioFormat | undefined;
}

/** The result of planning a website's request. It is valid until the website's voices change. */
export interface SynthesisPlan {
  readonly characters: number;
  /** True at volume 0: the answer has no audio. */
  readonly silent: boolean;
  /** The renditions to try, best first; never empty. */
  readonly renditions: readonly [Rendition, ...Rendition[]];
  /** The revision of the shared catalog. A shared plan depends on nothing else. */
  readonly catalogRevision: string;
  /** True if the plan is the same for every website: no BYOK engine is involved. */
  readonly shared: boolean;
}

/** The engine that speaks for the website; undefined if it is not running or the website has no credentials for it. */
export type FindEngine = (code: EngineCode, websiteId: string) => Engine | undefined;

export interface Planner {
  /** @throws {Invalid} @throws {NotFound} if there is no voice or engine for the request */
  plan(request: SynthesisRequest, websiteId: string): SynthesisPlan;
  /** True if a shared plan was made from the current catalog. */
  isCurrent(plan: SynthesisPlan): boolean;
}

export interface PlannerOptions {
  readonly findEngine: FindEngine;
  /** The encoder's part of every recipe: encoded bytes depend on it. */
  readonly encoderVersion: string;
  readonly catalogOf: CatalogOf;
}

/** No website has this id: its catalog is the shared one. */
const noWebsite = "";

export const createPlanner = ({ findEngine, encoderVersion, catalogOf }: PlannerOptions): Planner => {
  const renditionFor = (candidate: Candidate, request: ParsedRequest): Rendition[] => {
    const { systemVoice, voiceName, format, lang } = candidate;
    const { text, ssml, prosody, websiteId } = request;
    const engine = findEngine(candidate.engine, websiteId);
    if (!engine) return [];
    const byok = isByok(engine.code);
    const version = engine.version(voiceName);
    const recipe: Recipe = {
      // A website's paid audio is not synthesized again because this machine has another version of ffmpeg.
      tools: byok ? version : `${version}; ${encoderVersion}`,
      engine: engine.code,
      voice: voiceName,
      lang,
      text,
      prosody: effectiveProsody(prosody, systemVoice),
      applied: engine.prosody(voiceName),
      format,
      ...(byok && { websiteId }),
    };
    const hash = hashRecipe(recipe);
    const name = objectName(recipe, hash);
    return [{ recipe, hash, name, ssml, voice: candidate.label, systemVoice: systemVoice.name }];
  };

  return {
    plan: (request, websiteId) => {
      const ssml = isSsml(request.text);
      const text = (ssml ? parseSsml(request.text) : request.text).normalize("NFC");
      const takesSsml = ({ engine, voiceName }: Candidate): boolean =>
        findEngine(engine, websiteId)?.takesSsml(voiceName) ?? false;
      const candidates = resolveVoices(catalogOf(websiteId).index, { ...request, ssml }, takesSsml);
      const parsed = { prosody: request.prosody, text, ssml, websiteId };
      const [first, ...others] = candidates.flatMap((candidate) => renditionFor(candidate, parsed));
      if (!first) throw noEngine(candidates);
      return {
        characters: countCharacters(request.text),
        silent: request.prosody.volume === 0,
        renditions: [first, ...others],
        catalogRevision: catalogOf(noWebsite).revision,
        shared: !candidates.some(({ engine }) => isByok(engine)),
      };
    },
    isCurrent: ({ catalogRevision }) => catalogOf(noWebsite).revision === catalogRevision,
  };
};

interface ParsedRequest {
  /** Normalised; SSML in canonical form. */
  readonly text: string;
  readonly ssml: boolean;
  readonly prosody: Prosody;
  readonly websiteId: string;
}

const noEngine = (candidates: readonly Candidate[]): NotFound => {
  const codes = [...new Set(candidates.map(({ engine }) => engine))];
  const why = codes.every(isByok) ? "the website has no credentials for it" : "it is not running here";
  return new NotFound(`There is no provider for the engine ${codes.join(", ")}: ${why}.`);
};
