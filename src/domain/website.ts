import { z } from "zod";
import { Conflict, NotFound } from "./errors.ts";
import { line } from "./line.ts";
import { never } from "./never.ts";
import type { StoredConfig } from "./website-config.ts";

/** A website: whom keys belong to and what its player does. Stream `website-{id}`. Times are ISO 8601, UTC. */
export type WebsiteEvent =
  | {
      readonly type: "WebsiteRegistered";
      readonly data: { websiteId: string; name: string; origins: readonly string[]; at: string };
    }
  | { readonly type: "WebsiteConfigured"; readonly data: { config: StoredConfig; at: string } }
  | { readonly type: "OriginsChanged"; readonly data: { origins: readonly string[]; at: string } };

export interface RegisteredWebsite {
  readonly status: "registered";
  readonly websiteId: string;
  readonly name: string;
  /** Whole origins, normalised: they are compared as they are. */
  readonly origins: readonly string[];
  readonly config: StoredConfig;
  readonly registeredAt: string;
}
export type Website = { readonly status: "absent" } | RegisteredWebsite;

export const websiteStream = (websiteId: string): string => `website-${websiteId}`;

export const initialWebsite = (): Website => ({ status: "absent" });

export const evolveWebsite = (website: Website, event: WebsiteEvent): Website => {
  if (event.type === "WebsiteRegistered") {
    const { websiteId, name, origins, at } = event.data;
    return { status: "registered", websiteId, name, origins, config: {}, registeredAt: at };
  }
  if (website.status === "absent") return website;
  switch (event.type) {
    case "WebsiteConfigured":
      return { ...website, config: event.data.config };
    case "OriginsChanged":
      return { ...website, origins: event.data.origins };
    default:
      return never(event, website);
  }
};

export const websiteDecider = { initial: initialWebsite, evolve: evolveWebsite };

export const registerWebsite = (
  website: Website,
  {
    websiteId,
    name,
    origins,
    at,
  }: { websiteId: string; name: string; origins: readonly string[]; at: string },
): WebsiteEvent[] => {
  if (website.status !== "absent") throw new Conflict(`The website ${websiteId} is already registered.`);
  return [{ type: "WebsiteRegistered", data: { websiteId, name, origins, at } }];
};

/** The new part replaces the old one whole. */
export const configureWebsite = (
  website: Website,
  { config, at }: { config: StoredConfig; at: string },
): WebsiteEvent[] => {
  if (isSame(registered(website).config, config)) return [];
  return [{ type: "WebsiteConfigured", data: { config, at } }];
};

export const changeOrigins = (
  website: Website,
  { origins, at }: { origins: readonly string[]; at: string },
): WebsiteEvent[] => {
  if (isSame(registered(website).origins, origins)) return [];
  return [{ type: "OriginsChanged", data: { origins, at } }];
};

/** Decides nothing, but that the website is there. @throws {NotFound} */
export const requireWebsite = (website: Website): WebsiteEvent[] => {
  registered(website);
  return [];
};

/** @throws {NotFound} */
export const registered = (website: Website): RegisteredWebsite => {
  if (website.status === "absent") throw new NotFound("There is no such website.");
  return website;
};

/** The same members in another order count as a change, which does no harm. */
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export const websiteName = line(200);

/** The URL parser forgives much (blanks, backslashes, missing slashes) that is no origin. */
const originShape = /^https?:\/\/[^\s/\\?#@*]+\/?$/i;

/** scheme://host[:port], http or https, as a browser would send it; no path, no wildcard. */
export const origin = z
  .string()
  .max(300)
  .transform((text, context) => {
    const url = originShape.test(text) ? URL.parse(text) : null;
    if (url) return url.origin;
    context.addIssue("Expected an origin: http or https, a host, perhaps a port, and nothing else.");
    return z.NEVER;
  });

export const origins = z
  .array(origin)
  .max(100)
  .transform((all) => [...new Set(all)]);
