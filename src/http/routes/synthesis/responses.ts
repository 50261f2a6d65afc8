import { z } from "zod";
import { audio, noStore } from "../../caching/cache-control.ts";
import { audioHeaderSchemas, v2AudioContent } from "../../kernel/audio-response.ts";
import {
  acceptRanges,
  cached,
  contentLocation,
  contentRange,
  etag,
  type HeaderNames,
  marks,
  prosodyApplied,
  streaming,
} from "../../kernel/headers.ts";
import type { ResponseSpec } from "../../kernel/operation.ts";

const fallbacks = [audio.fallback, audio.ownFallback];

/** The responses to a synthesis with the given Cache-Control policies. */
const common = (names: HeaderNames, cache: readonly string[]) => ({
  200: {
    description: "The audio.",
    cache: [...cache, ...fallbacks],
    headers: {
      ...audioHeaderSchemas,
      ...contentLocation,
      ...marks,
      ...prosodyApplied(names),
      ...cached(names),
    },
    content: v2AudioContent,
  },
  204: { description: "Silence (volume 0): there is no audio.", cache, headers: prosodyApplied(names) },
});

type Responses = Readonly<Record<number, ResponseSpec>>;

export const responsesToGet = (names: HeaderNames): Responses => {
  const cache = [audio.get, audio.own];
  const responses = common(names, cache);
  return {
    ...responses,
    206: {
      ...responses[200],
      description: "The requested range of the audio.",
      headers: { ...responses[200].headers, ...contentRange },
    },
    304: {
      description: "The caller has the audio.",
      cache,
      headers: { ...etag, ...contentLocation, ...marks },
    },
  };
};

/** The whole audio; or a stream, which no cache stores and which has no entity tag. */
export const responsesToPost = (names: HeaderNames): Responses => {
  const { 200: whole, 204: silence } = common(names, [audio.post, audio.own]);
  return {
    200: {
      ...whole,
      cache: [...whole.cache, noStore],
      headers: {
        ...whole.headers,
        ...z.object({ ...etag, ...acceptRanges }).partial().shape,
        ...streaming,
      },
      content: { ...v2AudioContent, "text/event-stream": { schema: SpeechEvents, example: eventsExample } },
    },
    204: silence,
  };
};

/** Audio for one listener, which no cache stores. */
export const responsesToSpeech = (names: HeaderNames): Responses => {
  const { 200: whole, 204: silence } = common(names, [noStore]);
  const headers = { ...whole.headers, ...z.object({ ...etag, ...acceptRanges }).partial().shape };
  return { 200: { ...whole, cache: [noStore], headers }, 204: silence };
};

const SpeechEvents = z.string().meta({
  id: "SpeechEvents",
  description:
    "The audio as server-sent events; `data` holds the whole event as JSON. `metadata` {type, contentType, prosodyApplied}, then `audio` {type, chunkIndex, data (base64)}, then `end` {type, totalBytes, totalChunks} or `error` {type, message, retryable}.",
});

const eventsExample = [
  'event: metadata\ndata: {"type":"metadata","contentType":"audio/mpeg","prosodyApplied":["rate"]}\n\n',
  'event: audio\ndata: {"type":"audio","chunkIndex":0,"data":"//NkxAAAAA=="}\n\n',
  'event: end\ndata: {"type":"end","totalBytes":7,"totalChunks":1}\n\n',
].join("");
