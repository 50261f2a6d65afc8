import type { Authenticator } from "../../../application/access/authentication.ts";
import type { Synthesis } from "../../../application/synthesis/delivery.ts";
import { tryWithMore } from "../../../limits/limits.ts";
import type { RateLimiter } from "../../../limits/rate-limiter.ts";
import { requireAdmission } from "../../access/gate.ts";
import { noStore } from "../../caching/cache-control.ts";
import type { ClientAddress } from "../../kernel/client-address.ts";
import type { HeaderNames } from "../../kernel/headers.ts";
import { disconnectSignal } from "../../kernel/middleware.ts";
import { jsonRequest, type Operation, pathParams } from "../../kernel/operation.ts";
import { respond } from "../../kernel/respond.ts";
import type { SynthesisPresenter } from "../synthesis/presenter.ts";
import { type RequestSchema, requestFromBody } from "../synthesis/request.ts";
import { responsesToSpeech } from "../synthesis/responses.ts";
import { adminOperation, apiKey } from "./admin-operation.ts";

interface SpeechOptions {
  readonly authenticator: Pick<Authenticator, "actFor">;
  readonly limiter: Pick<RateLimiter, "admit">;
  readonly clientOf: ClientAddress;
  readonly synthesis: Pick<Synthesis, "plan">;
  readonly presenter: SynthesisPresenter;
  readonly schema: RequestSchema;
  readonly names: HeaderNames;
}

/**
 * `POST /admin/keys/{apiKey}/speech`: an operator listens to a voice at the expense of a key. The
 * request is limited and charged like a request of the key.
 */
export const keySpeechOperation = (options: SpeechOptions): Operation =>
  adminOperation({
    method: "post",
    path: "/admin/keys/{apiKey}/speech",
    id: "speakForKey",
    summary:
      "Synthesize a text as the key would: with its voices, its lexicons, its limits and at its expense",
    cache: [noStore],
    params: pathParams({ apiKey }),
    body: jsonRequest(
      options.schema,
      { voice: "UK English Female", text: "The train to Oxford leaves at nine." },
      { read: (body) => requestFromBody(options.schema, body) },
    ),
    responses: responsesToSpeech(options.names),
    errors: [404, 502, 503],
    handle: async ({ params, body }, _, ctx) => {
      const { authenticator, limiter, clientOf, synthesis, presenter } = options;
      const principal = authenticator.actFor(params.apiKey);
      const signal = disconnectSignal(ctx);
      await tryWithMore(() => {
        requireAdmission({ principal, admission: limiter.admit(principal, clientOf(ctx.req)) });
      }, signal);
      const plan = synthesis.plan(body, principal.websiteId);
      const { requestId } = ctx.state;
      const call = { principal, requestId, method: "POST", signal } as const;
      const response = await presenter.present(plan, call);
      respond(ctx, response);
      ctx.set("Cache-Control", noStore);
    },
  });
