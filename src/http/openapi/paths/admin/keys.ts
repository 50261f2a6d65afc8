import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { planRequest } from "../../../../domain/accounts/plan.ts";
import * as answers from "../../../routes/admin/answers.ts";
import { reinstatement, suspension } from "../../../routes/admin/keys.ts";
import { pageQuery } from "../../../routes/admin/paging.ts";
import { noStore, requestId } from "../../headers.ts";
import { apiKey, type Call, made, secretId, shown } from "./call.ts";

/** `/admin/keys`. */
export const keyPaths = (call: Call): ZodOpenApiPathsObject => ({
  "/admin/keys": {
    get: call({
      id: "listKeys",
      summary: "All keys, the oldest first",
      query: pageQuery,
      answer: shown("The keys.", answers.keyList),
    }),
  },
  "/admin/keys/{apiKey}": {
    get: call({
      id: "showKey",
      summary: "A key: its state, its plan, this month's characters against the quota",
      path: { apiKey },
      answer: shown("The key.", answers.keyDetails),
    }),
  },
  "/admin/keys/{apiKey}/secrets": {
    post: call({
      id: "createSecret",
      summary: "Create another secret, to rotate them",
      path: { apiKey },
      answer: made("The secret, shown this once.", answers.newSecret, noStore),
      errors: [409, 503],
    }),
  },
  "/admin/keys/{apiKey}/secrets/{secretId}": {
    delete: call({
      id: "revokeSecret",
      summary: "Revoke a secret: the next request with it is refused",
      path: { apiKey, secretId },
      answer: { "204": { description: "It is revoked.", headers: z.object(requestId) } },
      errors: [503],
    }),
  },
  "/admin/keys/{apiKey}/plan": {
    put: call({
      id: "changePlan",
      summary: "Change a key's plan; a higher quota lifts a suspension by quota",
      path: { apiKey },
      body: [planRequest, { tier: "commercial" }],
      answer: shown("The key as it is now.", answers.keyDetails),
    }),
  },
  "/admin/keys/{apiKey}/suspend": {
    post: call({
      id: "suspendKey",
      summary: "Suspend a key",
      path: { apiKey },
      body: [suspension, { reason: "invoice overdue" }],
      answer: shown("The key as it is now.", answers.keyDetails),
    }),
  },
  "/admin/keys/{apiKey}/reinstate": {
    post: call({
      id: "reinstateKey",
      summary: "Reinstate a suspended key",
      path: { apiKey },
      body: [reinstatement, { reason: "paid" }],
      optionalBody: true,
      answer: shown("The key as it is now.", answers.keyDetails),
    }),
  },
});
