import Router from "@koa/router";
import type { ReportVoices } from "../../../application/catalog/voice-reports.ts";
import type { Voices } from "../../../application/catalog/voices.ts";
import type { Gate } from "../../access/gate.ts";
import { replyTagged } from "../../caching/tagged-json.ts";
import { jsonBody } from "../../kernel/json-body.ts";
import { authenticated } from "../../kernel/middleware.ts";
import type { PublicUrl } from "../../kernel/public-url.ts";
import { parse } from "../../kernel/validation.ts";
import { createVoicePresenter } from "./presenter.ts";
import { voicesQuery } from "./query.ts";
import { VoiceReportRequest } from "./schemas.ts";

/** `GET /v2/voices`, its parts, and `POST /v2/voices/report`. */
export const voiceRoutes = ({
  gate,
  voices,
  reportVoices,
  publicUrl,
}: {
  gate: Gate;
  voices: Voices;
  reportVoices: ReportVoices;
  publicUrl: PublicUrl;
}): Router => {
  const router = new Router({ prefix: "/v2/voices" });
  const present = createVoicePresenter();

  router.get("/", authenticated(gate), (ctx) => {
    const query = voicesQuery(ctx.querystring);
    const { websiteId } = ctx.state.caller.principal;
    replyTagged(ctx, present.list(publicUrl(ctx.req), voices.collection(websiteId, query), query));
  });

  router.get("/by-language/:lang", authenticated(gate), (ctx) => {
    const { lang = "" } = ctx.params;
    const { websiteId } = ctx.state.caller.principal;
    replyTagged(ctx, present.byLanguage(publicUrl(ctx.req), lang, voices.inLanguage(websiteId, lang)));
  });

  router.post("/report", authenticated(gate), jsonBody(), async (ctx) => {
    const report = parse(VoiceReportRequest, ctx.request.body);
    await reportVoices(report);
    const { websiteId } = ctx.state.caller.principal;
    replyTagged(ctx, present.report(publicUrl(ctx.req), voices.collection(websiteId, report.platform)));
  });

  router.get("/:name", authenticated(gate), (ctx) => {
    const { name = "" } = ctx.params;
    const { websiteId } = ctx.state.caller.principal;
    replyTagged(ctx, present.detail(publicUrl(ctx.req), voices.named(websiteId, name)));
  });

  return router;
};
