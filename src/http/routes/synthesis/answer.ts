import type {
  Extent,
  Rendition,
  RequestContext,
  Sound,
  Synthesis,
  SynthesisPlan,
} from "../../../application/synthesis/synthesis.ts";
import { formatKnobs } from "../../../domain/synthesis/prosody.ts";
import { isAnyTag, noneMatchHits, partOf } from "../../caching/conditional.ts";
import { type Answer, askedPart, etagOf, soundAnswer, soundHeaders } from "../../kernel/audio-body.ts";
import type { HeaderNames } from "../../kernel/header-names.ts";
import type { AudioDuration } from "../audio/audio-duration.ts";

/** What of the request an answer depends on, beside the plan. */
export interface Asked extends RequestContext {
  readonly method: "GET" | "HEAD" | "POST";
  readonly ifNoneMatch?: string | undefined;
  readonly range?: string | undefined;
  readonly ifRange?: string | undefined;
  readonly signal: AbortSignal;
}

/** A website's own voices are for its callers alone: some CDNs ignore `Vary`. A free sound may stay a week at a CDN. */
const lifetimeOf = ({ shared }: SynthesisPlan, method: Asked["method"]): string => {
  if (!shared) return "private, max-age=86400";
  return method === "POST" ? "public, max-age=86400" : "public, max-age=86400, s-maxage=604800";
};

/** A fallback is not what the address stands for: caches must soon ask again. */
const fallbackLifetimeOf = ({ shared }: SynthesisPlan): string =>
  `${shared ? "public" : "private"}, max-age=60`;

/** What 304 repeats of the headers that 200 would have (RFC 9110, section 15.4.5), and what lets pages read it. */
const repeated = [
  "ETag",
  "Cache-Control",
  "Content-Location",
  "Access-Control-Allow-Origin",
  "Access-Control-Expose-Headers",
];

/** A sound has a byte at least: a range that has one of a single byte has one of every sound. */
const extentOf = ({ method, range }: Asked): Extent => {
  if (method !== "GET" || range === undefined) return "whole";
  return partOf({ range, ifRange: undefined }, "", 1) === "unsatisfiable" ? "uncertain" : "part";
};

export const createAnswerer = ({
  synthesis,
  names,
  publicPath,
  publicCors,
  audioDuration,
}: {
  synthesis: Synthesis;
  names: HeaderNames;
  /** The path that the service has for its callers; empty at the root. */
  publicPath: string;
  publicCors: Readonly<Record<string, string>>;
  audioDuration: AudioDuration;
}) => {
  const silence = (plan: SynthesisPlan, { method }: Asked): Answer => ({
    status: 204,
    headers: {
      "Cache-Control": lifetimeOf(plan, method),
      [names.prosodyApplied]: "volume",
      ...(plan.shared && publicCors),
    },
  });

  const headersOf = (
    plan: SynthesisPlan,
    { recipe, hash, name }: Rendition,
    method: Asked["method"],
  ): Record<string, string> => {
    const headers = soundHeaders(hash, recipe.format);
    headers["Cache-Control"] = lifetimeOf(plan, method);
    headers[names.prosodyApplied] = formatKnobs(recipe.applied);
    if (recipe.websiteId === undefined) headers["Content-Location"] = `${publicPath}/${name}`;
    return plan.shared ? Object.assign(headers, publicCors) : headers;
  };

  /** Whether the caller has the sound. A fallback's tag does not count: the first voice is tried again. */
  const isUnchanged = async (plan: SynthesisPlan, { ifNoneMatch, signal }: Asked): Promise<boolean> =>
    isAnyTag(ifNoneMatch)
      ? (await synthesis.fromCache(plan, signal)) !== undefined
      : noneMatchHits(ifNoneMatch, [etagOf(plan.renditions[0].hash)]);

  const notModified = (plan: SynthesisPlan, { method }: Asked): Answer => {
    const headers = Object.entries(headersOf(plan, plan.renditions[0], method));
    return { status: 304, headers: Object.fromEntries(headers.filter(([name]) => repeated.includes(name))) };
  };

  /** HEAD makes nothing: it tells the length only of what is there. */
  const head = async (plan: SynthesisPlan, { signal, method }: Asked): Promise<Answer> => {
    const sound = await synthesis.fromCache(plan, signal);
    const headers = headersOf(plan, sound?.rendition ?? plan.renditions[0], method);
    if (sound) {
      headers[names.cached] = sound.provenance;
      headers["Content-Length"] = String(sound.bytes.length);
      Object.assign(headers, audioDuration(sound.format, sound.bytes));
    }
    return { status: 200, headers };
  };

  /** The sound, once the ledger holds it. */
  const deliver = async (plan: SynthesisPlan, sound: Sound, asked: Asked): Promise<Answer> => {
    const part = asked.method === "GET" ? askedPart(asked, sound.hash, sound.bytes.length) : "whole";
    await synthesis.record(plan, asked, sound, part !== "whole");
    const headers = headersOf(plan, sound.rendition, asked.method);
    headers[names.cached] = sound.provenance;
    Object.assign(headers, audioDuration(sound.format, sound.bytes));
    if (sound.failed.length > 0) headers["Cache-Control"] = fallbackLifetimeOf(plan);
    return soundAnswer(sound.bytes, part, headers);
  };

  /**
   * Answers a planned synthesis: 200 or 206 with audio that the ledger holds, 204 for silence, 304 for what the caller
   * has already.
   * @throws {ServiceError} @throws {RangeNotSatisfiable}
   */
  const answer = async (plan: SynthesisPlan, asked: Asked): Promise<Answer> => {
    if (plan.silent) return silence(plan, asked);
    if (asked.method !== "POST" && (await isUnchanged(plan, asked))) return notModified(plan, asked);
    if (asked.method === "HEAD") return await head(plan, asked);
    return await deliver(plan, await synthesis.obtain(plan, asked, extentOf(asked), asked.signal), asked);
  };

  return { answer, deliver };
};

export type Answerer = ReturnType<typeof createAnswerer>;
