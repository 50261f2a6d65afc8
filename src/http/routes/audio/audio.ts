import Router from "@koa/router";
import type { Context } from "koa";
import { NotFound } from "../../../domain/errors.ts";
import type { AudioFormat } from "../../../domain/synthesis/speech.ts";
import { noneMatchHits } from "../../caching/conditional.ts";
import { type Answer, askedPart, etagOf, soundAnswer, soundHeaders } from "../../kernel/audio-body.ts";
import { leaving } from "../../kernel/middleware.ts";
import { reply } from "../../kernel/reply.ts";
import type { AudioDuration } from "./audio-duration.ts";

/** Finds an object by its name, or undefined. */
export type FetchObject = (name: string, signal: AbortSignal) => Promise<Buffer | undefined>;

const lifetime = "public, max-age=31536000, immutable";

/** `GET /audio/{hash}.{ext}`: immutable objects for a CDN, without credentials; free engines' audio alone. */
export const audioRoutes = ({
  fetchObject,
  audioDuration,
}: {
  fetchObject: FetchObject;
  audioDuration: AudioDuration;
}): Router => {
  const router = new Router();
  router.get("/audio/:object", async (ctx) => {
    const [, hash, format] = /^([0-9a-f]{64})\.(mp3|ogg|wav)$/.exec(ctx.params.object ?? "") ?? [];
    const bytes = hash && (await fetchObject(`audio/${hash}.${format}`, leaving(ctx)));
    if (!hash || !bytes) throw new NotFound("There is no such audio.");
    const answer = answerObject(ctx, hash, format as AudioFormat, bytes);
    if (answer.body) ctx.set(audioDuration(format as AudioFormat, bytes));
    reply(ctx, answer);
  });
  return router;
};

const answerObject = (ctx: Context, hash: string, format: AudioFormat, bytes: Buffer): Answer => {
  const headers: Record<string, string> = soundHeaders(hash, format);
  headers["Cache-Control"] = lifetime;
  const { range, "if-range": ifRange, "if-none-match": ifNoneMatch } = ctx.req.headers;
  if (noneMatchHits(ifNoneMatch, [etagOf(hash)])) {
    return { status: 304, headers: { ETag: etagOf(hash), "Cache-Control": lifetime } };
  }
  const part =
    ctx.method === "GET"
      ? askedPart({ range, ifRange: ifRange as string | undefined }, hash, bytes.length)
      : "whole";
  return soundAnswer(bytes, part, headers);
};
