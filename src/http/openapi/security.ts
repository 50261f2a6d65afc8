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
  singleToken: {
    type: "http",
    scheme: "bearer",
    description:
      "`API_KEY.API_SECRET`, for clients that send a single token. Only for servers; never use it in a browser.",
  },
  elevenLabsKey: {
    type: "apiKey",
    in: "header",
    name: "xi-api-key",
    description: "`API_KEY.API_SECRET`, as ElevenLabs' clients send it. Only for servers.",
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
  adminToken: { type: "http", scheme: "bearer", description: "A token of ADMIN_TOKEN, for operators." },
  auditorToken: {
    type: "http",
    scheme: "bearer",
    description: "A token of AUDITOR_TOKEN. It reads everything in the admin API, and changes nothing.",
  },
};

type Security = NonNullable<ZodOpenApiOperationObject["security"]>;

/** The alternatives that authenticate a website. */
const website: Security = [
  { apiKey: [], apiSecret: [] },
  { singleToken: [] },
  { elevenLabsKey: [] },
  { accessToken: [] },
  { apiKey: [], verifiedOrigin: [] },
  { keyParameter: [], verifiedOrigin: [] },
];

const auditor: Security = [{ adminToken: [] }, { auditorToken: [] }];

export const securityOf: Readonly<Record<Auth, Security>> = {
  none: [],
  website,
  "website, even suspended": website,
  "website, if it has credentials": [...website, {}],
  websocket: [...website, { tokenParameter: [] }],
  "verification token": [{ verificationToken: [] }],
  operator: [{ adminToken: [] }],
  auditor,
  "website even suspended, or auditor": [...auditor, ...website],
};
