import type { Audio, KnownAudio, Rendition } from "../../../application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../../application/synthesis/planner.ts";
import { formats } from "../../../domain/synthesis/formats.ts";
import { marksMimeType } from "../../../domain/synthesis/marks.ts";
import { formatProsodyParameters } from "../../../domain/synthesis/prosody.ts";
import { publicUrlPath } from "../../../domain/synthesis/recipe.ts";
import { audioCaching, noStore } from "../../caching/cache-control.ts";
import {
  audioHeaders,
  audioResponse,
  durationHeader,
  type HttpResponse,
  marksLink,
  type RequestedPart,
} from "../../kernel/audio-response.ts";
import type { HeaderNames } from "../../kernel/headers.ts";

export type SynthesisMethod = "GET" | "HEAD" | "POST";

export interface AudioResponseOptions {
  readonly names: HeaderNames;
  /** The path of PUBLIC_URL; empty at the root of a host. */
  readonly publicPath: string;
  readonly publicCors: Readonly<Record<string, string>>;
}

const cacheControlOf = ({ shared }: SynthesisPlan, method: SynthesisMethod): string => {
  if (!shared) return audioCaching.own;
  return method === "POST" ? audioCaching.post : audioCaching.get;
};

/**
 * The headers of 200 that 304 repeats (RFC 9110, section 15.4.5), and those that let pages read the
 * response.
 */
const notModifiedHeaders = [
  "ETag",
  "Cache-Control",
  "Content-Location",
  "Link",
  "Access-Control-Allow-Origin",
  "Access-Control-Expose-Headers",
];

/** The headers that contain the name of the audio. */
const namingHeaders = ["ETag", "Content-Location", "Link"];

/** The responses of a planned synthesis, with their headers. */
export const createAudioResponses = ({ names, publicPath, publicCors }: AudioResponseOptions) => {
  const headersOf = (
    plan: SynthesisPlan,
    { recipe, hash, name, hasMarks }: Rendition,
    method: SynthesisMethod,
  ): Record<string, string> => {
    const headers = audioHeaders(hash, formats[recipe.format].mimeType);
    headers["Cache-Control"] = cacheControlOf(plan, method);
    headers[names.prosodyApplied] = formatProsodyParameters(recipe.applied);
    if (recipe.websiteId === undefined) {
      headers["Content-Location"] = `${publicPath}${publicUrlPath(name)}`;
      if (hasMarks) headers.Link = marksLink(publicPath, name);
    }
    return plan.shared ? Object.assign(headers, publicCors) : headers;
  };

  /** The response at volume 0. */
  const silence = (plan: SynthesisPlan, method: SynthesisMethod): HttpResponse => ({
    status: 204,
    headers: {
      "Cache-Control": cacheControlOf(plan, method),
      [names.prosodyApplied]: "volume",
      ...(plan.shared && publicCors),
    },
  });

  const notModified = (plan: SynthesisPlan, method: SynthesisMethod): HttpResponse => {
    const headers = Object.entries(headersOf(plan, plan.renditions[0], method));
    const repeated = headers.filter(([name]) => notModifiedHeaders.includes(name));
    return { status: 304, headers: Object.fromEntries(repeated) };
  };

  /**
   * Leaves the audio's name out unless the key was charged for the audio within ten minutes: with
   * the name, anyone could ask `/audio/` whether others had it spoken. `audio`: the result of
   * `findCharged`.
   */
  const head = (plan: SynthesisPlan, audio: KnownAudio | undefined): HttpResponse => {
    const headers = headersOf(plan, audio?.rendition ?? plan.renditions[0], "HEAD");
    if (audio) {
      headers[names.cached] = audio.source;
      headers["Content-Length"] = String(audio.size);
      Object.assign(headers, durationHeader(audio));
    } else for (const name of namingHeaders) delete headers[name];
    return { status: 200, headers };
  };

  const ofAudio = (
    plan: SynthesisPlan,
    audio: Audio,
    method: SynthesisMethod,
    part: RequestedPart,
  ): HttpResponse => {
    const headers = headersOf(plan, audio.rendition, method);
    headers[names.cached] = audio.source;
    Object.assign(headers, durationHeader(audio));
    if (audio.failed.length > 0)
      headers["Cache-Control"] = plan.shared ? audioCaching.fallback : audioCaching.ownFallback;
    return audioResponse(audio.bytes, part, headers);
  };

  /** Marks contain the words, so no cache may store them. `Link` names the audio. */
  const marks = (
    { recipe, name }: Rendition,
    content?: { readonly audio: Audio; readonly lines: Buffer },
  ): HttpResponse => {
    const { mimeType } = formats[recipe.format];
    const headers: Record<string, string> = {
      "Content-Type": marksMimeType,
      "Cache-Control": noStore,
      [names.prosodyApplied]: formatProsodyParameters(recipe.applied),
    };
    if (!content) return { status: 200, headers };
    headers[names.cached] = content.audio.source;
    if (recipe.websiteId === undefined)
      headers.Link = `<${publicPath}${publicUrlPath(name)}>; rel="describes"; type="${mimeType}"`;
    Object.assign(headers, durationHeader(content.audio));
    return { status: 200, headers, body: content.lines };
  };

  return { silence, notModified, head, audio: ofAudio, marks };
};
