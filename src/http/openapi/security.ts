import type { ZodOpenApiOperationObject, ZodOpenApiSecuritySchemeObject } from "zod-openapi";
import type { Auth } from "../kernel/operation.ts";

export const securitySchemes: Record<string, ZodOpenApiSecuritySchemeObject> = {
  apiKey: {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description: "The website's public identifier.",
  },
  apiSecret: {
    type: "apiKey",
    in: "header",
    name: "X-API-Secret",
    description: "The secret of the key. Only for servers; never use it in a browser.",
  },
  keyParameter: {
    type: "apiKey",
    in: "query",
    name: "key",
    description: "The key in the URL, where headers cannot be set (an `<audio>` element).",
  },
  verifiedOrigin: {
    type: "apiKey",
    in: "header",
    name: "Origin",
    description:
      "Set by the browser. It must be one of the website's verified origins. For GET without `Origin`, the `Referer` counts.",
  },
  accessToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "The short-lived token in the response of `GET /v2/config`.",
  },
  tokenParameter: {
    type: "apiKey",
    in: "query",
    name: "token",
    description: "The access token in the URL, where headers cannot be set (a page's WebSocket).",
  },
  verificationToken: {
    type: "http",
    scheme: "bearer",
    description: "Issued by the operator. It proves one origin, once, within 15 minutes.",
  },
  adminToken: { type: "http", scheme: "bearer", description: "The operator's ADMIN_TOKEN." },
};

type Security = NonNullable<ZodOpenApiOperationObject["security"]>;

/** The alternatives that authenticate a website. */
const website: Security = [
  { apiKey: [], apiSecret: [] },
  { accessToken: [] },
  { apiKey: [], verifiedOrigin: [] },
  { keyParameter: [], verifiedOrigin: [] },
];

export const securityOf: Readonly<Record<Auth, Security>> = {
  none: [],
  website,
  "website, even suspended": website,
  websocket: [...website, { tokenParameter: [] }],
  "verification token": [{ verificationToken: [] }],
  operator: [{ adminToken: [] }],
};
