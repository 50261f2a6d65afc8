import type { ZodOpenApiOperationObject, ZodOpenApiSecuritySchemeObject } from "zod-openapi";

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
    description: "The key's secret half, for servers alone: never in a browser.",
  },
  keyParameter: {
    type: "apiKey",
    in: "query",
    name: "key",
    description: "The key in the address, where no header can be set (an `<audio>` element).",
  },
  verifiedOrigin: {
    type: "apiKey",
    in: "header",
    name: "Origin",
    description:
      "Set by the browser. It, or for GET without one the `Referer`, must be among the website's verified origins.",
  },
  accessToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "The short-lived token that `GET /v2/config` answers with.",
  },
  tokenParameter: {
    type: "apiKey",
    in: "query",
    name: "token",
    description: "The same token in the address, where no header can be set (a page's WebSocket).",
  },
  verificationToken: {
    type: "http",
    scheme: "bearer",
    description: "Issued by the operator to prove one origin, once, within 15 minutes.",
  },
  adminToken: { type: "http", scheme: "bearer", description: "The operator's ADMIN_TOKEN." },
};

type Security = NonNullable<ZodOpenApiOperationObject["security"]>;

/** Any one of these lets a website's request in. */
export const websites: Security = [
  { apiKey: [], apiSecret: [] },
  { accessToken: [] },
  { apiKey: [], verifiedOrigin: [] },
  { keyParameter: [], verifiedOrigin: [] },
];
/** And these a handshake. */
export const sockets: Security = [...websites, { tokenParameter: [] }];
export const operator: Security = [{ adminToken: [] }];
export const originOwner: Security = [{ verificationToken: [] }];
export const nobody: Security = [];
