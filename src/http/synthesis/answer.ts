import type { Extent, Order, Sound, Synthesis, SynthesisPlan, Take } from "../../application/synthesis.ts";
import { formatKnobs } from "../../domain/prosody.ts";
import { type Answer, askedPart, etagOf, soundAnswer, soundHeaders } from "../audio-body.ts";
import { noneMatchHits, partOf } from "../conditional.ts";
import type { HeaderNames } from "../header-names.ts";

/** What of the request an answer depends on, beside the plan. */
export interface Asked extends Order {
  readonly method: "GET" | "HEAD" | "POST";
  readonly ifNoneMatch?: string | undefined;
  readonly range?: string | undefined;
  readonly ifRange?: string | undefined;
  readonly signal: AbortSignal;
}

/** A day for clients; for what has an address of its own also a week for a CDN. */
const lifetimeOf = (method: Asked["method"]): string =>
  method === "POST" ? "public, max-age=86400" : "public, max-age=86400, s-maxage=604800";

/** A fallback is not what the address stands for: caches must soon ask again. */
const fallbackLifetime = "public, max-age=60";

/**
 * What an answer depends on that is not the same for every website: all that a caller is known by. Beside `Origin`,
 * which every answer names, `Referer` too: by it a page's own elements are let in with a key that anybody can read.
 */
const callersVary = "X-API-Key, X-API-Secret, Authorization, Referer";

/** A sound has a byte at least: a range that has one of a single byte has one of every sound. */
const extentOf = ({ method, range }: Asked): Extent => {
  if (method !== "GET" || range === undefined) return "whole";
  return partOf({ range, ifRange: undefined }, "", 1) === "unsatisfiable" ? "uncertain" : "part";
};

export const createAnswerer = (synthesis: Synthesis, names: HeaderNames) => {
  const silence = ({ shared }: SynthesisPlan, { method }: Asked): Answer => ({
    status: 204,
    headers: {
      "Cache-Control": lifetimeOf(method),
      [names.prosodyApplied]: "volume",
      ...(!shared && { Vary: callersVary }),
    },
  });

  const headersOf = (
    { shared }: SynthesisPlan,
    { recipe, hash, name }: Take,
    method: Asked["method"],
  ): Record<string, string> => {
    const headers = soundHeaders(hash, recipe.format);
    headers["Cache-Control"] = lifetimeOf(method);
    headers[names.prosodyApplied] = formatKnobs(recipe.applied);
    if (recipe.websiteId === undefined) headers["Content-Location"] = `/${name}`;
    if (!shared) headers.Vary = callersVary;
    return headers;
  };

  /** The caller has it already. A fallback's tag does not count: what was to be spoken is tried again. */
  const unchanged = (plan: SynthesisPlan, { ifNoneMatch, method }: Asked): Answer | undefined => {
    const [take] = plan.takes;
    if (!noneMatchHits(ifNoneMatch, [etagOf(take.hash)])) return undefined;
    const { ETag, Vary, "Cache-Control": lifetime } = headersOf(plan, take, method);
    return {
      status: 304,
      headers: { ETag: ETag ?? "", "Cache-Control": lifetime ?? "", ...(Vary && { Vary }) },
    };
  };

  /** HEAD makes nothing: it tells the length only of what is there. */
  const head = async (plan: SynthesisPlan, { signal, method }: Asked): Promise<Answer> => {
    const sound = await synthesis.find(plan, signal);
    const headers = headersOf(plan, sound?.take ?? plan.takes[0], method);
    if (sound) {
      headers[names.cached] = sound.provenance;
      headers["Content-Length"] = String(sound.bytes.length);
    }
    return { status: 200, headers };
  };

  /** The sound, once the ledger holds it. */
  const deliver = async (plan: SynthesisPlan, sound: Sound, asked: Asked): Promise<Answer> => {
    const part = asked.method === "GET" ? askedPart(asked, sound.hash, sound.bytes.length) : "whole";
    await synthesis.record(plan, asked, sound, part !== "whole");
    const headers = headersOf(plan, sound.take, asked.method);
    headers[names.cached] = sound.provenance;
    if (sound.failed.length > 0) headers["Cache-Control"] = fallbackLifetime;
    return soundAnswer(sound.bytes, part, headers);
  };

  /**
   * Answers a planned synthesis: 200 or 206 with audio that the ledger holds, 204 for silence, 304 for what the caller
   * has already.
   * @throws {ServiceError} @throws {RangeNotSatisfiable}
   */
  const answer = async (plan: SynthesisPlan, asked: Asked): Promise<Answer> => {
    if (plan.silent) return silence(plan, asked);
    const fresh = asked.method === "POST" ? undefined : unchanged(plan, asked);
    if (fresh) return fresh;
    if (asked.method === "HEAD") return await head(plan, asked);
    return await deliver(plan, await synthesis.obtain(plan, asked, extentOf(asked), asked.signal), asked);
  };

  return { answer, deliver };
};

export type Answerer = ReturnType<typeof createAnswerer>;
