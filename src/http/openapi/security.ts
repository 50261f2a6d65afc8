import type { ZodOpenApiOperationObject, ZodOpenApiSecuritySchemeObject } from "zod-openapi";
import type { Auth } from "../kernel/auth.ts";
import type { CompatibleApi } from "../kernel/compatible-api.ts";

type Scheme = ZodOpenApiSecuritySchemeObject;

const apiKeyIn =
  (place: "header" | "query") =>
  (name: string, description: string): Scheme => ({ type: "apiKey", in: place, name, description });
const inHeader = apiKeyIn("header");
const inQuery = apiKeyIn("query");

const bearer = (description: string): Scheme => ({ type: "http", scheme: "bearer", description });

export const securitySchemesWith = (apis: readonly CompatibleApi[]): Record<string, Scheme> => ({
  apiKey: inHeader("X-API-Key", "The website's public identifier."),
  apiSecret: inHeader("X-API-Secret", "The secret of the key. Only for servers; never use it in a browser."),
  keyParameter: inQuery("key", "The key in the URL, where headers cannot be set (an `<audio>` element)."),
  verifiedOrigin: inHeader(
    "Origin",
    "Set by the browser. It must be one of the website's verified origins. For GET without `Origin`, the `Referer` counts.",
  ),
  accessToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "The short-lived token in the response of `GET /v2/config`.",
  },
  singleToken: bearer(
    "`API_KEY.API_SECRET`, for clients that send a single token. Only for servers; never use it in a browser.",
  ),
  ...Object.fromEntries(
    apis.flatMap(({ tokenHeader }) =>
      tokenHeader ? [[tokenHeader.scheme, inHeader(tokenHeader.name, tokenHeader.description)]] : [],
    ),
  ),
  tokenParameter: inQuery(
    "token",
    "The access token in the URL, where headers cannot be set (a page's WebSocket).",
  ),
  verificationToken: bearer("Issued by the operator. It proves one origin, once, within 15 minutes."),
  adminToken: bearer("A token of ADMIN_TOKEN, for operators."),
  auditorToken: bearer(
    "A token of AUDITOR_TOKEN. It reads everything in the admin API, and changes nothing.",
  ),
});

type Security = NonNullable<ZodOpenApiOperationObject["security"]>;

const auditor: Security = [{ adminToken: [] }, { auditorToken: [] }];

/** The alternatives that authenticate the callers of an operation. */
export const securityWith = (apis: readonly CompatibleApi[]): Readonly<Record<Auth, Security>> => {
  const website: Security = [
    { apiKey: [], apiSecret: [] },
    { singleToken: [] },
    ...apis.flatMap(({ tokenHeader }) => (tokenHeader ? [{ [tokenHeader.scheme]: [] }] : [])),
    { accessToken: [] },
    { apiKey: [], verifiedOrigin: [] },
    { keyParameter: [], verifiedOrigin: [] },
  ];
  return {
    none: [],
    "anyone, or auditor": [...auditor, {}],
    website,
    "website, even suspended": website,
    "website, if it has credentials": [...website, {}],
    websocket: [...website, { tokenParameter: [] }],
    "verification token": [{ verificationToken: [] }],
    operator: [{ adminToken: [] }],
    auditor,
    "website even suspended, or auditor": [...auditor, ...website],
  };
};
