import { z } from "zod";
import type { HeaderNames } from "../kernel/header-names.ts";

/** The headers of answers, each under its name: groups of them make up a response's. */

const text = z.string();
const count = z.string().regex(/^\d+$/);
const tag = z.string().regex(/^"[^"]+"$/);

export const requestId = {
  "X-Request-Id": z.uuid().meta({
    description: "The request's id, the same in the log and on the ledger.",
    examples: ["2c11356a-1a1c-4e53-8d0a-55b3c1ab0e5e"],
  }),
};

export const limits = {
  "X-RateLimit-Limit": count.meta({
    description: "Requests a minute that the key may make.",
    examples: ["100"],
  }),
  "X-RateLimit-Remaining": count.meta({
    description: "Requests left in the current minute (UTC).",
    examples: ["98"],
  }),
};

const waiting = count.meta({
  description: "Whole seconds after which the same request passes.",
  examples: ["42"],
});

export const retryAfter = { "Retry-After": waiting };

/** `lifetime`: the header's whole value. */
export const caching = (...lifetimes: string[]) => ({
  "Cache-Control": z.enum(lifetimes).meta({ description: "How long which caches may keep the answer." }),
});

export const noStore = caching("no-store");

export const etag = {
  ETag: tag.meta({
    description: "A strong tag, for `If-None-Match`.",
    examples: ['"4e6ff6ac9dc1a7c7e0b1c1b6de4f2e8c1e2b7a9c3d5e0f1a2b3c4d5e6f708192"'],
  }),
};

export const vary = {
  Vary: text.meta({ description: "The request headers that the answer depends on.", examples: ["Origin"] }),
};

export const acceptRanges = {
  "Accept-Ranges": z.literal("bytes").meta({ description: "Byte ranges can be asked for." }),
};

/** On answers that no shared cache keeps, for the bearer of a token that is past half its life. */
export const renewal = ({ authRenewed, authRenewedExp }: HeaderNames) => ({
  [authRenewed]: z
    .string()
    .optional()
    .meta({ description: "A fresh access token, when the one presented is past half its life." }),
  [authRenewedExp]: count.optional().meta({ description: "When that one expires, in unix seconds." }),
});

export const audioDuration = {
  "X-Audio-Duration": z
    .string()
    .regex(/^\d+\.\d{3}$/)
    .optional()
    .meta({
      description:
        "The length of the whole sound in seconds. Not on a stream, nor where HEAD finds no sound that was made before.",
      examples: ["2.090"],
    }),
};

export const contentRange = {
  "Content-Range": text.meta({
    description: "Which bytes these are, of how many.",
    examples: ["bytes 0-1023/17972"],
  }),
};

/** Of a range that lies outside. */
export const unsatisfied = {
  "Content-Range": text.meta({ description: "How many bytes there are.", examples: ["bytes */17972"] }),
};

export const contentLocation = {
  "Content-Location": text.optional().meta({
    description: "The sound's own address for ever, without credentials; not with a website's own engines.",
    examples: ["/audio/4e6ff6ac9dc1a7c7e0b1c1b6de4f2e8c1e2b7a9c3d5e0f1a2b3c4d5e6f708192.mp3"],
  }),
};

export const location = {
  Location: text.meta({
    description: "Where it lies now.",
    examples: ["/admin/keys/vlk_0RrSxSzLwJvA8e1kzPpE3u7Q"],
  }),
};

export const upgrade = {
  Upgrade: text.meta({ description: "What to upgrade to.", examples: ["websocket"] }),
  "Sec-WebSocket-Version": text.meta({ description: "The version to ask for.", examples: ["13"] }),
};

export const authenticate = {
  "WWW-Authenticate": text.meta({ description: "How to authenticate.", examples: ["Bearer"] }),
};

export const cached = ({ cached }: HeaderNames) => ({
  [cached]: z.enum(["miss", "coalesced", "memory", "store"]).meta({
    description:
      "How the audio came to be there: made for this request, made for one that asked first, from memory, from the store.",
  }),
});

export const prosodyApplied = ({ prosodyApplied }: HeaderNames) => ({
  [prosodyApplied]: z
    .string()
    .regex(/^(pitch)?(,?rate)?(,?volume)?$/)
    .meta({
      description: "Which of pitch, rate and volume are in the sound, in this order.",
      examples: ["pitch,rate,volume"],
    }),
});

export const streaming = {
  "X-Streaming": z.enum(["sse", "audio"]).optional().meta({
    description: "On a stream alone: events, or the audio's own bytes.",
  }),
  "X-Accel-Buffering": z.literal("no").optional().meta({
    description: "On a stream alone: tells proxies to pass it on as it comes.",
  }),
};

export const deprecation = {
  Deprecation: z
    .string()
    .regex(/^@\d+$/)
    .meta({ description: "Deprecated since then (RFC 9745).", examples: ["@1767225600"] }),
  Sunset: text.meta({
    description: "Not to be relied on after then (RFC 8594).",
    examples: ["Fri, 31 Dec 2027 23:59:59 GMT"],
  }),
  Link: text.meta({
    description: "What has taken its place.",
    examples: ['</v2/text/synthesize>; rel="successor-version"'],
  }),
};
