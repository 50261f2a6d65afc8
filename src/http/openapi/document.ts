import { createDocument, type ZodOpenApiOverride, type ZodOpenApiPathsObject } from "zod-openapi";
import { fixedTiers } from "../../domain/accounts/plan.ts";
import { planOrTier } from "../../domain/accounts/plan-request.ts";
import type { CompatibleApi } from "../kernel/compatible-api.ts";
import type { HeaderNames } from "../kernel/headers.ts";
import type { Operation } from "../kernel/operation.ts";
import { createDescriber } from "./describe-operation.ts";
import { securitySchemesWith } from "./security.ts";

export type OpenApiDocument = ReturnType<typeof createDocument>;

/** The version of the API, not of the program. */
const version = "2.1.0";

/** The OpenAPI document of the operations. */
export const describeApi = ({
  operations,
  names,
  publicUrl,
  apis,
}: {
  operations: readonly Operation[];
  names: HeaderNames;
  apis: readonly CompatibleApi[];
  /** The default is the host that serves the document. */
  publicUrl: string | undefined;
}): OpenApiDocument => {
  const describe = createDescriber(names, apis);
  const paths: ZodOpenApiPathsObject = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], ...describe(operation) };
  }
  return createDocument(
    {
      openapi: "3.1.0",
      info: {
        title: "Voxledger",
        version,
        summary: "Text to speech with content-addressed audio and an event log of every request",
        description: descriptionWith(apis),
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: publicUrl ?? "/" }],
      tags: tagsWith(apis),
      paths,
      components: { securitySchemes: securitySchemesWith(apis) },
    },
    { override: preprocessedPlan, allowEmptySchema: { custom: true } },
  );
};

/**
 * zod cannot describe the input of `planOrTier`'s preprocessing: the name of a tier with fixed
 * limits.
 */
const preprocessedPlan: ZodOpenApiOverride = ({ zodSchema, jsonSchema }) => {
  if (zodSchema !== planOrTier) return;
  const { oneOf = [] } = jsonSchema;
  delete jsonSchema.type;
  jsonSchema.oneOf = [{ type: "string", enum: fixedTiers }, ...oneOf];
};

const descriptionWith = (
  apis: readonly CompatibleApi[],
) => `Every response has an \`X-Request-Id\`. Every error is \`{error: {message, statusCode, code?, errors?}}\`,
or in the form of the API that a path under ${apis.map(({ segment }) => `\`/${segment}\``).join(" or ")} is compatible with. An
unknown path is a 404. A method that a path does not have is a 405 with \`Allow\`. HEAD is supported wherever GET is. JSON
of more than 1 KiB is compressed for clients that accept gzip or br.

Responses to a website's verified origins have CORS headers. Preflights need no authentication.`;

const tagsWith = (apis: readonly CompatibleApi[]) => [
  { name: "Synthesis", description: "Text to speech." },
  ...apis.map(({ tag }) => tag),
  {
    name: "Voices",
    description: "The voices of the service, and reports of the voices that platforms have.",
  },
  { name: "Access", description: "A website's configuration, access tokens and origins." },
  { name: "Audio", description: "Audio by its permanent URL." },
  { name: "Service", description: "Health, documentation and the client library." },
  { name: "Legacy", description: "The remaining operation of v1." },
  {
    name: "Admin",
    description: "The API of operators and auditors. Absent without ADMIN_TOKEN and AUDITOR_TOKEN.",
  },
];
