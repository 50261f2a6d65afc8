import type { Pipeline, Rendition, Sound } from "../../audio/pipeline/pipeline.ts";
import { isByok } from "../../domain/accounts/byok-providers.ts";
import { type Candidate, resolveVoices } from "../../domain/catalog/voice-resolution.ts";
import { NotFound } from "../../domain/errors.ts";
import { countCharacters } from "../../domain/synthesis/count-characters.ts";
import type { AudioFormat } from "../../domain/synthesis/formats.ts";
import { effectiveProsody } from "../../domain/synthesis/prosody.ts";
import { hashRecipe, objectName, type Recipe } from "../../domain/synthesis/recipe.ts";
import type { EngineCode, Gender, Prosody } from "../../domain/synthesis/speech.ts";
import type { Idempotency } from "../../domain/usage/usage.ts";
import type { Engine } from "../../engines/engine.ts";
import { isSsml, parseSsml } from "../../engines/text/ssml.ts";
import type { Principal } from "../access/authentication.ts";
import type { CatalogOf } from "../catalog/website-catalog.ts";
import type { Ledger } from "../usage/ledger.ts";

/** A synthesis as it is asked for, validated and normalised. */
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

/** What a request of a website comes to; the same for the same request until the website's voices change. */
export interface SynthesisPlan {
  readonly characters: number;
  /** The volume is 0: there is nothing to hear. */
  readonly silent: boolean;
  /** The ways to answer, the best first; never empty. */
  readonly renditions: readonly [Rendition, ...Rendition[]];
  /** Of the catalog that all websites share: a shared plan depends on nothing else. */
  readonly catalogRevision: string;
  /** Whether the same request comes to the same for every website: none's own provider is in it. */
  readonly shared: boolean;
}

/** The engine that speaks for the website; undefined when there is none, or no credentials for it. */
export type FindEngine = (code: EngineCode, websiteId: string) => Engine | undefined;

/** From a request to sound, and onto the ledger. */
export interface Synthesis {
  /** @throws {Invalid} @throws {NotFound} when no voice or engine is there for it */
  plan(request: SynthesisRequest, websiteId: string): SynthesisPlan;
  /** Whether the plan, a shared one, was made from the catalog as it is now. */
  isCurrent(plan: SynthesisPlan): boolean;
  /** The sound, if it lies in memory. */
  fromMemory(plan: SynthesisPlan): Sound | undefined;
  /** The sound from memory or store, without making it. */
  fromCache(plan: SynthesisPlan, signal: AbortSignal): Promise<Sound | undefined>;
  /**
   * The sound, made if need be. What the quota has no room for, for sure, is refused before any work.
   * @throws {KeyIsSuspended} @throws {EngineFailed} @throws {Unavailable}
   */
  obtain(plan: SynthesisPlan, order: RequestContext, extent: Extent, signal: AbortSignal): Promise<Sound>;
  /** Puts the answer on the ledger; only then may the sound leave. @throws {KeyIsSuspended} @throws {Unavailable} */
  record(plan: SynthesisPlan, order: RequestContext, sound: Sound, partial: boolean): Promise<void>;
}

/** What of the sound is asked for, as far as that is known without it; `uncertain`: perhaps nothing that it has. */
export type Extent = "whole" | "part" | "uncertain";

/** Who asks, and under which request. */
export interface RequestContext {
  readonly principal: Principal;
  readonly requestId: string;
  /** The caller's Idempotency-Key: a repeat of the same request is charged once. */
  readonly idempotency?: Idempotency | undefined;
}

export type { Rendition, Sound };

export const createSynthesis = ({
  findEngine,
  encoderVersion,
  pipeline,
  ledger,
  catalogOf,
}: {
  findEngine: FindEngine;
  /** What encoded bytes depend on beside the samples. */
  encoderVersion: string;
  pipeline: Pipeline;
  ledger: Ledger;
  catalogOf: CatalogOf;
}): Synthesis => {
  const renditionFor = (
    candidate: Candidate,
    { request, text, ssml, websiteId }: PlannedRequest,
  ): Rendition[] => {
    const { systemVoice, voiceName, format, lang } = candidate;
    const engine = findEngine(candidate.engine, websiteId);
    if (!engine) return [];
    const byok = isByok(engine.code);
    const version = engine.version(voiceName);
    const recipe: Recipe = {
      // What a website has paid for is not made anew because this machine has another ffmpeg.
      tools: byok ? version : `${version}; ${encoderVersion}`,
      engine: engine.code,
      voice: voiceName,
      lang,
      text,
      prosody: effectiveProsody(request.prosody, systemVoice),
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
      const { index } = catalogOf(websiteId);
      const ssml = isSsml(request.text);
      const text = (ssml ? parseSsml(request.text) : request.text).normalize("NFC");
      const takesSsml = ({ engine, voiceName }: Candidate): boolean =>
        findEngine(engine, websiteId)?.takesSsml(voiceName) ?? false;
      const candidates = resolveVoices(index, { ...request, ssml }, takesSsml);
      const asked = { request, text, ssml, websiteId };
      const [first, ...others] = candidates.flatMap((candidate) => renditionFor(candidate, asked));
      if (!first) throw noEngine(candidates);
      return {
        characters: countCharacters(request.text),
        silent: request.prosody.volume === 0,
        renditions: [first, ...others],
        catalogRevision: catalogOf(sharedCatalog).revision,
        shared: !candidates.some(({ engine }) => isByok(engine)),
      };
    },
    isCurrent: ({ catalogRevision }) => catalogOf(sharedCatalog).revision === catalogRevision,
    fromMemory: ({ renditions: [first] }) => pipeline.fromMemory(first),
    fromCache: async ({ renditions: [first] }, signal) => pipeline.fromCache(first, signal),
    obtain: async (plan, { principal, requestId, idempotency }, extent, signal) => {
      const { characters, renditions } = plan;
      const hashes = renditions.map(({ hash }) => hash);
      const prospect = { hashes, characters, partial: extent === "part", idempotency };
      if (extent !== "uncertain") await ledger.checkQuota(principal, prospect, requestId);
      return await pipeline.obtain(renditions, signal, principal.apiKey);
    },
    record: async (plan, { principal, requestId, idempotency }, sound, partial) => {
      const { recipe, voice } = sound.rendition;
      await ledger.record(principal, {
        requestId,
        hash: sound.hash,
        characters: plan.characters,
        engine: recipe.engine,
        voice,
        lang: recipe.lang,
        format: recipe.format,
        cached: sound.provenance,
        ...(partial && { partial }),
        ...(idempotency && { idempotency }),
        ...(sound.failed.length > 0 && { failed: sound.failed }),
      });
    },
  };
};

interface PlannedRequest {
  readonly request: SynthesisRequest;
  /** As it is spoken. */
  readonly text: string;
  readonly ssml: boolean;
  readonly websiteId: string;
}

/** No website's name: its catalog is the shared one. */
const sharedCatalog = "";

const noEngine = (candidates: readonly Candidate[]): NotFound => {
  const codes = [...new Set(candidates.map(({ engine }) => engine))];
  const why = codes.every((code) => isByok(code))
    ? "the website has no credentials for it"
    : "it is not running here";
  return new NotFound(`There is no provider for the engine ${codes.join(", ")}: ${why}.`);
};
