import { z } from "zod";
import { marksMimeType } from "../../../domain/synthesis/marks.ts";
import { audioCaching, noStore } from "../../caching/cache-control.ts";
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

const fallbacks = [audioCaching.fallback, audioCaching.ownFallback];

/** The content of a response to `marks=phoneme`, which is never stored. */
const marksContent = {
  [marksMimeType]: {
    schema: z.string().meta({
      id: "MarksWithPhonemes",
      description:
        'With `marks=phoneme`: one JSON object per line, in order of time. Words, sentences and `<mark>`s as in `{hash}.marks.json`, with their text as `value`; where the voice reports them, `phoneme` with a symbol of its model, and `viseme` with a number from 0 (silence) to 21, as Azure numbers them: their `start` and `end` are those of the word. `Link` with `rel="describes"` names the audio, whose GET is free.',
    }),
    example:
      '{"time":0,"type":"word","start":0,"end":3,"value":"Two"}\n{"time":0,"type":"phoneme","start":0,"end":3,"value":"t"}\n{"time":0,"type":"viseme","start":0,"end":3,"value":19}\n',
  },
};

/** The headers that only complete audio has. */
const optional = z.object({ ...etag, ...acceptRanges }).partial().shape;

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
  const cache = [audioCaching.get, audioCaching.own];
  const responses = common(names, cache);
  const { 200: complete } = responses;
  return {
    ...responses,
    200: {
      ...complete,
      cache: [...complete.cache, noStore],
      headers: { ...complete.headers, ...optional },
      content: { ...complete.content, ...marksContent },
    },
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

/** Complete audio; or a stream, which no cache stores and which has no entity tag. */
export const responsesToPost = (names: HeaderNames): Responses => {
  const { 200: complete, 204: silence } = common(names, [audioCaching.post, audioCaching.own]);
  return {
    200: {
      ...complete,
      cache: [...complete.cache, noStore],
      headers: {
        ...complete.headers,
        ...optional,
        ...streaming,
      },
      content: {
        ...v2AudioContent,
        ...marksContent,
        "text/event-stream": { schema: SpeechEvents, example: eventsExample },
      },
    },
    204: silence,
  };
};

/** Audio for one listener, which no cache stores. */
export const responsesToSpeech = (names: HeaderNames): Responses => {
  const { 200: complete, 204: silence } = common(names, [noStore]);
  const headers = { ...complete.headers, ...optional };
  return { 200: { ...complete, cache: [noStore], headers }, 204: silence };
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
