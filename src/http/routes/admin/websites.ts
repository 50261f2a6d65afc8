import { z } from "zod";
import {
  type NewVerification,
  type OriginVerification,
  verificationRequest,
} from "../../../application/accounts/origin-verification.ts";
import type { ReadWebsitePage, WebsitePage } from "../../../application/accounts/website-page.ts";
import {
  type NewWebsite,
  newName,
  newOrigins,
  registration,
  type WebsiteDetails,
  type Websites,
} from "../../../application/accounts/websites.ts";
import { storedConfig, websiteConfig, websiteSettings } from "../../../domain/accounts/website-config.ts";
import { parse } from "../../../domain/validation.ts";
import { noStore } from "../../caching/cache-control.ts";
import { location } from "../../kernel/headers.ts";
import { disconnectSignal } from "../../kernel/middleware.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import { jsonRequest, pathParams, queryParams } from "../../kernel/operation.ts";
import { adminOperationOf, created, ok, time, websiteId } from "./admin-operation.ts";
import { newSecret, plan } from "./keys.ts";
import { matches, pageMembers, pageOf, pageParameters, search, total } from "./paging.ts";

const newWebsite = namedSchema("NewWebsite", {
  ...newSecret.shape,
  id: z.string(),
  name: z.string(),
  origins: z.array(z.string()),
  apiKey: z.string(),
  plan,
}) satisfies z.ZodType<NewWebsite>;

const websiteDetails = namedSchema("WebsiteDetails", {
  id: z.string(),
  name: z.string(),
  origins: z.array(z.string()),
  storedConfig: z.looseObject({}).meta({ description: "The members that the operator has set." }),
  config: websiteConfig,
  registeredAt: time,
  erasedAt: time.exactOptional(),
  lost: z
    .array(z.enum(["name", "origins"]))
    .exactOptional()
    .meta({
      description: "What no key of the instance decrypts. Such origins are not listed.",
    }),
}) satisfies z.ZodType<WebsiteDetails>;

const newVerification = namedSchema("NewVerification", {
  token: z.string().meta({ description: "Shown only in this response. It can be used once." }),
  origin: z.string(),
  expiresAt: time,
}) satisfies z.ZodType<NewVerification>;

const websitePage = namedSchema("WebsitePage", {
  url: z.string().meta({ description: "The address of the page, after redirects." }),
  html: z.string(),
}) satisfies z.ZodType<WebsitePage>;

const pageQuery = queryParams(
  z.object({
    url: z
      .string()
      .max(2_000)
      .meta({ description: "An address of a verified origin.", examples: ["https://example.com/news"] }),
  }),
);

const websiteQuery = queryParams(z.object({ ...pageParameters, search }));

const params = pathParams({ id: websiteId });

const websiteOperation = adminOperationOf<{
  websites: Websites;
  originVerification: OriginVerification;
  readWebsitePage: ReadWebsitePage;
}>();

/** `/admin/websites`, without their credentials and keys. */
export const websiteOperations = [
  websiteOperation({
    method: "get",
    path: "/admin/websites",
    id: "listWebsites",
    summary: "List the websites, oldest first",
    query: websiteQuery,
    responses: ok("The websites.", z.object({ websites: z.array(websiteDetails), total, ...pageMembers })),
    handle: ({ websites }, { query }) => {
      const found = websites
        .list()
        .filter(({ id, name, origins }) => matches(query.search, [id, name, ...origins]));
      const { entries, _links } = pageOf(query, found, ({ id }) => id);
      return { websites: entries, total: found.length, count: entries.length, _links };
    },
  }),
  websiteOperation({
    method: "post",
    path: "/admin/websites",
    id: "registerWebsite",
    summary: "Register a website with its first key and secret",
    cache: [noStore],
    body: jsonRequest(registration, {
      name: "example.com",
      origins: ["https://example.com"],
      plan: "commercial",
    }),
    responses: created("The website. The secret is shown only in this response.", newWebsite, location),
    handle: async ({ websites }, { body }, command, ctx) => {
      const website = await websites.register(body, command);
      ctx.set("Location", `/admin/websites/${website.id}`);
      return website;
    },
  }),
  websiteOperation({
    method: "get",
    path: "/admin/websites/{id}",
    id: "showWebsite",
    summary: "Show a website",
    params,
    responses: ok("The website.", websiteDetails),
    handle: ({ websites }, { params }) => websites.get(params.id),
  }),
  websiteOperation({
    method: "put",
    path: "/admin/websites/{id}/config",
    id: "configureWebsite",
    summary: "Replace the stored part of a website's configuration",
    params,
    body: jsonRequest(
      websiteSettings,
      { voice: { name: "UK English Female", rate: 1.1 }, sdkVersion: "v2" },
      // Omitted members stay omitted: their defaults apply when the configuration is read.
      { read: (body) => parse(storedConfig, body) },
    ),
    responses: ok("The changed website.", websiteDetails),
    handle: ({ websites }, { params, body }, command) => websites.configure(params.id, body, command),
  }),
  websiteOperation({
    method: "put",
    path: "/admin/websites/{id}/name",
    id: "renameWebsite",
    summary: "Change a website's name",
    params,
    body: jsonRequest(newName, { name: "example.com" }),
    responses: ok("The changed website.", websiteDetails),
    handle: ({ websites }, { params, body }, command) => websites.rename(params.id, body.name, command),
  }),
  websiteOperation({
    method: "put",
    path: "/admin/websites/{id}/origins",
    id: "setOrigins",
    summary: "Replace a website's verified origins",
    params,
    body: jsonRequest(newOrigins, { origins: ["https://example.com", "https://www.example.com"] }),
    responses: ok("The changed website.", websiteDetails),
    handle: ({ websites }, { params, body }, command) =>
      websites.setOrigins(params.id, body.origins, command),
  }),
  websiteOperation({
    method: "post",
    path: "/admin/websites/{id}/verifications",
    id: "issueVerification",
    summary: "Issue a token with which a site proves an origin",
    cache: [noStore],
    params,
    body: jsonRequest(verificationRequest, { origin: "https://example.com" }),
    responses: created("The token, valid for 15 minutes and one use.", newVerification),
    errors: [409],
    handle: ({ originVerification }, { params, body }, command) =>
      originVerification.issue(params.id, body.origin, command),
  }),
  websiteOperation({
    method: "get",
    path: "/admin/websites/{id}/page",
    id: "readWebsitePage",
    summary: "Read a page of a verified origin, to preview what a player reads of it",
    description:
      "The service requests the page. It must be text/html of at most 2 MiB and arrive within 10 seconds; redirects are followed within the verified origins.",
    cache: [noStore],
    params,
    query: pageQuery,
    responses: ok("The page.", websitePage),
    errors: [404, 502, 503],
    handle: ({ readWebsitePage }, { params, query }, _, ctx) =>
      readWebsitePage(params.id, query.url, disconnectSignal(ctx)),
  }),
];
