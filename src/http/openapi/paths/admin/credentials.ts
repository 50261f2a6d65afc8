import { z } from "zod";
import type { ZodOpenApiPathItemObject, ZodOpenApiPathsObject } from "zod-openapi";
import { type ByokEngine, providerCredentials } from "../../../../domain/accounts/byok-providers.ts";
import * as answers from "../../../routes/admin/answers.ts";
import { requestId } from "../../headers.ts";
import { type Call, shown, websiteId } from "./call.ts";

const placeholder = "as-the-provider-gave-it";

/** `/admin/websites/{id}/credentials`. */
export const credentialPaths = (call: Call): ZodOpenApiPathsObject => ({
  "/admin/websites/{id}/credentials": {
    get: call({
      id: "listCredentials",
      summary: "The paid engines that a website has credentials for; never the credentials",
      path: { id: websiteId },
      answer: shown("What is set.", answers.credentialsList),
    }),
  },
  "/admin/websites/{id}/credentials/gwn": ofEngine(call, "gwn", "Google Cloud Text-to-Speech", {
    apiKey: placeholder,
  }),
  "/admin/websites/{id}/credentials/msv": ofEngine(call, "msv", "Azure Speech", {
    subscriptionKey: placeholder,
    region: "westeurope",
  }),
  "/admin/websites/{id}/credentials/oai": ofEngine(call, "oai", "an OpenAI-compatible server", {
    apiKey: placeholder,
    baseUrl: "https://speech.example/v1",
    model: "a-model",
    voices: ["alloy"],
  }),
});

const ofEngine = (
  call: Call,
  engine: ByokEngine,
  provider: string,
  example: object,
): ZodOpenApiPathItemObject => ({
  put: call({
    id: `setCredentials_${engine}`,
    summary: `Set or replace a website's credentials for ${provider}; its voices join the website's catalog`,
    path: { id: websiteId },
    body: [providerCredentials[engine], example],
    answer: shown("The provider took them, and listed its voices.", answers.credentialsDetails),
  }),
  delete: call({
    id: `removeCredentials_${engine}`,
    summary: `Remove a website's credentials for ${provider}, and its voices with them`,
    path: { id: websiteId },
    answer: { "204": { description: "They are removed.", headers: z.object(requestId) } },
    errors: [503],
  }),
});
