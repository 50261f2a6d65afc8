import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from "zod-openapi";
import { verificationRequest } from "../../../application/origin-verification.ts";
import { newOrigins, registration } from "../../../application/websites.ts";
import { planRequest } from "../../../domain/plan.ts";
import { websiteConfig } from "../../../domain/website-config.ts";
import * as answers from "../../admin/answers.ts";
import { auditQuery } from "../../admin/audit.ts";
import { issuance, reinstatement, suspension } from "../../admin/keys.ts";
import { usageQuery } from "../../admin/usage.ts";
import type { Described } from "../described.ts";
import type { ErrorStatus } from "../errors.ts";
import { location, noStore, requestId, vary } from "../headers.ts";
import { operator } from "../security.ts";

/** What the operator asks for, and how it is answered. */
interface AdminCall {
  readonly id: string;
  readonly summary: string;
  readonly parameters?: readonly (keyof typeof parameters)[];
  readonly query?: z.ZodObject;
  /** The body's schema, and an example of it. */
  readonly body?: readonly [z.ZodType, unknown];
  /** The body may be left out. */
  readonly optionalBody?: true;
  readonly answer: Readonly<Record<string, ZodOpenApiResponseObject>>;
  /** Beside 401 and 500, which any call may get. */
  readonly errors?: readonly ErrorStatus[];
}

const parameters = {
  id: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: "A website's id.", examples: ["web_0b9Zk2fX7Qm4sT1uVwYzAc"] }),
  apiKey: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: "A website's public key.", examples: ["vlk_0RrSxSzLwJvA8e1kzPpE3u7Q"] }),
  secretId: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: "A secret's id.", examples: ["sec_0b9Zk2fX7Qm4sT1uVwYzAc"] }),
};

type Call = (asked: AdminCall) => ZodOpenApiOperationObject;

const describeCall =
  ({ errorAnswers }: Described): Call =>
  (asked) => {
    const { id, summary, query, body, answer, errors = [] } = asked;
    const path = asked.parameters && z.object(parameters).pick(mask(asked.parameters));
    const withBody: ErrorStatus[] = body ? [400, 413, 503] : [];
    return {
      operationId: id,
      tags: ["Admin"],
      summary,
      security: operator,
      requestParams: { ...(path && { path }), ...(query && { query }) },
      ...(body && {
        requestBody: {
          required: !asked.optionalBody,
          content: { "application/json": { schema: body[0], example: body[1] } },
        },
      }),
      responses: {
        ...answer,
        ...errorAnswers("anyone", [...new Set<ErrorStatus>([401, ...errors, ...withBody, 500])].sort()),
      },
    };
  };

const mask = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, true])) as { [name in keyof typeof parameters]?: true };

const shown = (description: string, schema: z.ZodType) => ({
  "200": {
    description,
    headers: z.object(requestId),
    content: { "application/json": { schema } },
  },
});

const made = (description: string, schema: z.ZodType, more: z.ZodRawShape = {}) => ({
  "201": {
    description,
    headers: z.object({ ...requestId, ...noStore, ...more }),
    content: { "application/json": { schema } },
  },
});

const websitePaths = (call: Call): ZodOpenApiPathsObject => ({
  "/admin/websites": {
    get: call({
      id: "listWebsites",
      summary: "All websites, the oldest first",
      answer: shown("The websites.", answers.websiteList),
    }),
    post: call({
      id: "registerWebsite",
      summary: "Register a website, with its first key and secret",
      body: [registration, { name: "example.com", origins: ["https://example.com"], plan: "commercial" }],
      answer: made("The website; the secret is shown this once.", answers.newWebsite, location),
    }),
  },
  "/admin/websites/{id}": {
    get: call({
      id: "showWebsite",
      summary: "A website",
      parameters: ["id"],
      answer: shown("The website.", answers.websiteDetails),
      errors: [404],
    }),
  },
  "/admin/websites/{id}/config": {
    put: call({
      id: "configureWebsite",
      summary: "Replace the stored part of a website's configuration",
      parameters: ["id"],
      body: [websiteConfig, { voice: { name: "UK English Female", rate: 1.1 }, sdkVersion: "v2" }],
      answer: shown("The website as it is now.", answers.websiteDetails),
      errors: [404],
    }),
  },
  "/admin/websites/{id}/origins": {
    put: call({
      id: "setOrigins",
      summary: "Replace a website's verified origins",
      parameters: ["id"],
      body: [newOrigins, { origins: ["https://example.com", "https://www.example.com"] }],
      answer: shown("The website as it is now.", answers.websiteDetails),
      errors: [404],
    }),
  },
  "/admin/websites/{id}/verifications": {
    post: call({
      id: "issueVerification",
      summary: "Issue a token with which a site proves an origin",
      parameters: ["id"],
      body: [verificationRequest, { origin: "https://example.com" }],
      answer: made("The token, good for 15 minutes and one use.", answers.newVerification),
      errors: [404, 409],
    }),
  },
  "/admin/websites/{id}/keys": {
    post: call({
      id: "issueKey",
      summary: "Issue another key, with its first secret",
      parameters: ["id"],
      body: [issuance, { plan: { tier: "enterprise", requestsPerMinute: 5_000, monthlyCharacters: null } }],
      optionalBody: true,
      answer: made("The key; the secret is shown this once.", answers.newKey, location),
      errors: [404],
    }),
  },
});

const keyPaths = (call: Call): ZodOpenApiPathsObject => ({
  "/admin/keys": {
    get: call({
      id: "listKeys",
      summary: "All keys, the oldest first",
      answer: shown("The keys.", answers.keyList),
    }),
  },
  "/admin/keys/{apiKey}": {
    get: call({
      id: "showKey",
      summary: "A key: its state, its plan, this month's characters against the quota",
      parameters: ["apiKey"],
      answer: shown("The key.", answers.keyDetails),
      errors: [404],
    }),
  },
  "/admin/keys/{apiKey}/secrets": {
    post: call({
      id: "createSecret",
      summary: "Create another secret, to rotate them",
      parameters: ["apiKey"],
      answer: made("The secret, shown this once.", answers.newSecret),
      errors: [404, 409, 503],
    }),
  },
  "/admin/keys/{apiKey}/secrets/{secretId}": {
    delete: call({
      id: "revokeSecret",
      summary: "Revoke a secret: the next request with it is refused",
      parameters: ["apiKey", "secretId"],
      answer: { "204": { description: "It is revoked.", headers: z.object(requestId) } },
      errors: [404, 503],
    }),
  },
  "/admin/keys/{apiKey}/plan": {
    put: call({
      id: "changePlan",
      summary: "Change a key's plan; a higher quota lifts a suspension by quota",
      parameters: ["apiKey"],
      body: [planRequest, { tier: "commercial" }],
      answer: shown("The key as it is now.", answers.keyDetails),
      errors: [404],
    }),
  },
  "/admin/keys/{apiKey}/suspend": {
    post: call({
      id: "suspendKey",
      summary: "Suspend a key",
      parameters: ["apiKey"],
      body: [suspension, { reason: "invoice overdue" }],
      answer: shown("The key as it is now.", answers.keyDetails),
      errors: [404],
    }),
  },
  "/admin/keys/{apiKey}/reinstate": {
    post: call({
      id: "reinstateKey",
      summary: "Reinstate a suspended key",
      parameters: ["apiKey"],
      body: [reinstatement, { reason: "paid" }],
      optionalBody: true,
      answer: shown("The key as it is now.", answers.keyDetails),
      errors: [404],
    }),
  },
  "/admin/keys/{apiKey}/usage": {
    get: call({
      id: "reportUsage",
      summary: "A month's totals by day, engine and voice, now or as of a time",
      parameters: ["apiKey"],
      query: usageQuery,
      answer: shown("The totals.", answers.usageReport),
      errors: [400, 404, 503],
    }),
  },
});

const auditPaths = (call: Call): ZodOpenApiPathsObject => ({
  "/admin/audit": {
    get: call({
      id: "audit",
      summary: "The events themselves, up to the end of the log as of now",
      query: auditQuery,
      answer: {
        "200": {
          description:
            "One entry a line. Whole when the response ends well; one that was cut goes on with `after`.",
          headers: z.object({ ...requestId, ...vary }),
          content: {
            "application/x-ndjson": { schema: answers.auditEntry },
            "text/csv": { schema: z.string() },
          },
        },
      },
      errors: [400, 404, 503],
    }),
  },
});

/** `/admin`, the operator's interface. */
export const adminPaths = (described: Described): ZodOpenApiPathsObject => {
  const call = describeCall(described);
  return { ...websitePaths(call), ...keyPaths(call), ...auditPaths(call) };
};
