import type {
  Extent,
  Rendition,
  RequestContext,
  Sound,
  Synthesis,
} from "../../../application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../../application/synthesis/planner.ts";
import { formatKnobs } from "../../../domain/synthesis/prosody.ts";
import { audio } from "../../caching/cache-control.ts";
import { isAnyTag, noneMatchHits, partOf } from "../../caching/conditional.ts";
import {
  type AudioDuration,
  audioHeaders,
  audioResponse,
  etagOf,
  type HttpResponse,
  requestedPart,
} from "../../kernel/audio-body.ts";
import type { HeaderNames } from "../../kernel/headers.ts";

/** The parts of a request, besides its plan, that the response depends on. */
export interface SynthesisCall extends RequestContext {
  readonly method: "GET" | "HEAD" | "POST";
  readonly ifNoneMatch?: string | undefined;
  readonly range?: string | undefined;
  readonly ifRange?: string | undefined;
  readonly signal: AbortSignal;
}

const cacheControlOf = ({ shared }: SynthesisPlan, method: SynthesisCall["method"]): string => {
  if (!shared) return audio.own;
  return method === "POST" ? audio.post : audio.get;
};

/** The headers of 200 that 304 repeats (RFC 9110, section 15.4.5), and those with which pages can read it. */
const notModifiedHeaders = [
  "ETag",
  "Cache-Control",
  "Content-Location",
  "Access-Control-Allow-Origin",
  "Access-Control-Expose-Headers",
];

/** Audio has at least one byte: a range that a single byte satisfies is satisfiable for any audio. */
const extentOf = ({ method, range }: SynthesisCall): Extent => {
  if (method !== "GET" || range === undefined) return "whole";
  return partOf({ range, ifRange: undefined }, "", 1) === "unsatisfiable" ? "uncertain" : "part";
};

export const createSynthesisPresenter = ({
  synthesis,
  names,
  publicPath,
  publicCors,
  audioDuration,
}: {
  synthesis: Synthesis;
  names: HeaderNames;
  /** The path of PUBLIC_URL; empty at the root of a host. */
  publicPath: string;
  publicCors: Readonly<Record<string, string>>;
  audioDuration: AudioDuration;
}) => {
  const silence = (plan: SynthesisPlan, { method }: SynthesisCall): HttpResponse => ({
    status: 204,
    headers: {
      "Cache-Control": cacheControlOf(plan, method),
      [names.prosodyApplied]: "volume",
      ...(plan.shared && publicCors),
    },
  });

  const headersOf = (
    plan: SynthesisPlan,
    { recipe, hash, name }: Rendition,
    method: SynthesisCall["method"],
  ): Record<string, string> => {
    const headers = audioHeaders(hash, recipe.format);
    headers["Cache-Control"] = cacheControlOf(plan, method);
    headers[names.prosodyApplied] = formatKnobs(recipe.applied);
    if (recipe.websiteId === undefined) headers["Content-Location"] = `${publicPath}/${name}`;
    return plan.shared ? Object.assign(headers, publicCors) : headers;
  };

  /** Whether the caller has the audio. A fallback's tag does not count, so that the first voice is tried again. */
  const isUnchanged = async (
    plan: SynthesisPlan,
    { ifNoneMatch, signal }: SynthesisCall,
  ): Promise<boolean> =>
    isAnyTag(ifNoneMatch)
      ? (await synthesis.fromCache(plan, signal)) !== undefined
      : noneMatchHits(ifNoneMatch, [etagOf(plan.renditions[0].hash)]);

  const notModified = (plan: SynthesisPlan, { method }: SynthesisCall): HttpResponse => {
    const headers = Object.entries(headersOf(plan, plan.renditions[0], method));
    return {
      status: 304,
      headers: Object.fromEntries(headers.filter(([name]) => notModifiedHeaders.includes(name))),
    };
  };

  /** HEAD synthesizes nothing: the length is known only if the audio exists. */
  const head = async (plan: SynthesisPlan, { signal, method }: SynthesisCall): Promise<HttpResponse> => {
    const sound = await synthesis.fromCache(plan, signal);
    const headers = headersOf(plan, sound?.rendition ?? plan.renditions[0], method);
    if (sound) {
      headers[names.cached] = sound.provenance;
      headers["Content-Length"] = String(sound.bytes.length);
      Object.assign(headers, audioDuration(sound.format, sound.bytes));
    }
    return { status: 200, headers };
  };

  /** Records the request in the ledger, then returns the audio. */
  const deliver = async (plan: SynthesisPlan, sound: Sound, call: SynthesisCall): Promise<HttpResponse> => {
    const part = call.method === "GET" ? requestedPart(call, sound.hash, sound.bytes.length) : "whole";
    await synthesis.record(plan, call, sound, part !== "whole");
    const headers = headersOf(plan, sound.rendition, call.method);
    headers[names.cached] = sound.provenance;
    Object.assign(headers, audioDuration(sound.format, sound.bytes));
    if (sound.failed.length > 0) headers["Cache-Control"] = plan.shared ? audio.fallback : audio.ownFallback;
    return audioResponse(sound.bytes, part, headers);
  };

  /**
   * Answers a planned synthesis: 200 or 206 with recorded audio, 204 for silence, 304 if the caller has the audio.
   * @throws {ServiceError} @throws {RangeNotSatisfiable}
   */
  const answer = async (plan: SynthesisPlan, call: SynthesisCall): Promise<HttpResponse> => {
    if (plan.silent) return silence(plan, call);
    if (call.method !== "POST" && (await isUnchanged(plan, call))) return notModified(plan, call);
    if (call.method === "HEAD") return await head(plan, call);
    return await deliver(plan, await synthesis.obtain(plan, call, extentOf(call), call.signal), call);
  };

  return { answer, deliver };
};

export type SynthesisPresenter = ReturnType<typeof createSynthesisPresenter>;
