import type { ZodOpenApiPathsObject } from "zod-openapi";
import { verificationRequest } from "../../../../application/access/origin-verification.ts";
import { newOrigins, registration } from "../../../../application/accounts/websites.ts";
import { websiteConfig } from "../../../../domain/accounts/website-config.ts";
import * as answers from "../../../routes/admin/answers.ts";
import { issuance } from "../../../routes/admin/keys.ts";
import { pageQuery } from "../../../routes/admin/paging.ts";
import { location, noStore } from "../../headers.ts";
import { type Call, made, shown, websiteId } from "./call.ts";

/** `/admin/websites`. */
export const websitePaths = (call: Call): ZodOpenApiPathsObject => ({
  "/admin/websites": {
    get: call({
      id: "listWebsites",
      summary: "All websites, the oldest first",
      query: pageQuery,
      answer: shown("The websites.", answers.websiteList),
    }),
    post: call({
      id: "registerWebsite",
      summary: "Register a website, with its first key and secret",
      body: [registration, { name: "example.com", origins: ["https://example.com"], plan: "commercial" }],
      answer: made("The website; the secret is shown this once.", answers.newWebsite, {
        ...noStore,
        ...location,
      }),
    }),
  },
  "/admin/websites/{id}": {
    get: call({
      id: "showWebsite",
      summary: "A website",
      path: { id: websiteId },
      answer: shown("The website.", answers.websiteDetails),
    }),
  },
  "/admin/websites/{id}/config": {
    put: call({
      id: "configureWebsite",
      summary: "Replace the stored part of a website's configuration",
      path: { id: websiteId },
      body: [websiteConfig, { voice: { name: "UK English Female", rate: 1.1 }, sdkVersion: "v2" }],
      answer: shown("The website as it is now.", answers.websiteDetails),
    }),
  },
  "/admin/websites/{id}/origins": {
    put: call({
      id: "setOrigins",
      summary: "Replace a website's verified origins",
      path: { id: websiteId },
      body: [newOrigins, { origins: ["https://example.com", "https://www.example.com"] }],
      answer: shown("The website as it is now.", answers.websiteDetails),
    }),
  },
  "/admin/websites/{id}/verifications": {
    post: call({
      id: "issueVerification",
      summary: "Issue a token with which a site proves an origin",
      path: { id: websiteId },
      body: [verificationRequest, { origin: "https://example.com" }],
      answer: made("The token, good for 15 minutes and one use.", answers.newVerification, noStore),
      errors: [409],
    }),
  },
  "/admin/websites/{id}/keys": {
    post: call({
      id: "issueKey",
      summary: "Issue another key, with its first secret",
      path: { id: websiteId },
      body: [issuance, { plan: { tier: "enterprise", requestsPerMinute: 5_000, monthlyCharacters: null } }],
      optionalBody: true,
      answer: made("The key; the secret is shown this once.", answers.newKey, { ...noStore, ...location }),
    }),
  },
});
