import { createDocument, type ZodOpenApiObject } from "zod-openapi";
import type { HeaderNames } from "../kernel/header-names.ts";
import type { RequestSchema } from "../routes/synthesis/request.ts";
import type { Described } from "./described.ts";
import { createErrorAnswers } from "./errors.ts";
import { nameSchemas } from "./names.ts";
import { accessPaths } from "./paths/access.ts";
import { adminPaths } from "./paths/admin.ts";
import { audioPaths } from "./paths/audio.ts";
import { servicePaths } from "./paths/service.ts";
import { streamPaths } from "./paths/stream.ts";
import { synthesisPaths } from "./paths/synthesis.ts";
import { voicePaths } from "./paths/voices.ts";
import { securitySchemes } from "./security.ts";
import { unrepresentable } from "./unrepresentable.ts";

export type OpenApiDocument = ReturnType<typeof createDocument>;

/** The version of the interface that is described, not of the program. */
const version = "2.1.0";

/** The description of the API, made from the schemas that validate its requests and shape its answers. */
export const describeApi = ({
  schema,
  names,
  publicUrl,
}: {
  schema: RequestSchema;
  names: HeaderNames;
  /** Without it the API lies where its description does. */
  publicUrl: string | undefined;
}): OpenApiDocument => {
  nameSchemas(schema);
  const described: Described = { schema, names, errorAnswers: createErrorAnswers(names) };
  const document: ZodOpenApiObject = {
    openapi: "3.1.0",
    info: {
      title: "Voxledger",
      version,
      summary: "Text to speech, every sound content-addressed and accounted for",
      description,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: publicUrl ?? "/" }],
    tags,
    paths: {
      ...synthesisPaths(described),
      ...streamPaths(described),
      ...voicePaths(described),
      ...accessPaths(described),
      ...audioPaths(described),
      ...servicePaths(described),
      ...adminPaths(described),
    },
    components: { securitySchemes },
  };
  return createDocument(document, { override: unrepresentable, allowEmptySchema: { custom: true } });
};

const description = `Every answer carries \`X-Request-Id\`. Every error is \`{error: {message, statusCode, code?, errors?}}\`:
also 404 for an address that is not here and 405, with \`Allow\`, for a method that an address does not have. HEAD is
answered wherever GET is. JSON of more than 1 KiB is compressed for clients that accept gzip or br.

Requests from a website's verified origins are answered with the CORS headers that browsers ask for, and preflights
without authentication.`;

const tags = [
  { name: "Synthesis", description: "From text to sound." },
  { name: "Voices", description: "Who can speak, and what platforms have of their own." },
  { name: "Access", description: "A website's configuration, tokens and origins." },
  { name: "Audio", description: "Sounds by their addresses." },
  { name: "Service", description: "The service itself." },
  { name: "Legacy", description: "What remains of v1." },
  { name: "Admin", description: "The operator's interface; not there without an ADMIN_TOKEN." },
];
