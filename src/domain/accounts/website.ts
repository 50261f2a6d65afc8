import { z } from "zod";
import { Conflict, NotFound, Unauthorized } from "../errors.ts";
import { never } from "../never.ts";
import type { EventOf } from "../shape.ts";
import { singleLine } from "../validation.ts";
import type { websiteShapes } from "./event-shapes.ts";
import type { StoredConfig } from "./website-config.ts";

/**
 * A website: the owner of keys, with its player's configuration. Stream `website-{id}`. Times are
 * ISO 8601, UTC.
 */
export type WebsiteEvent = EventOf<typeof websiteShapes>;

/** An issued token. It verifies one origin, once, until it expires. */
export interface OriginVerification {
  readonly hash: string;
  readonly origin: string;
  readonly expiresAt: string;
  readonly used?: true;
}

export interface RegisteredWebsite {
  readonly status: "registered";
  readonly websiteId: string;
  readonly name: string;
  /** Normalised origins, compared as strings. */
  readonly origins: readonly string[];
  /**
   * Pending tokens, and the latest used or expired ones, which get another response than unknown
   * tokens.
   */
  readonly verifications: readonly OriginVerification[];
  readonly config: StoredConfig;
  readonly registeredAt: string;
}
/** Its name and origins are forgotten. Its keys and their usage remain. */
export interface ErasedWebsite {
  readonly status: "erased";
  readonly websiteId: string;
  readonly registeredAt: string;
  readonly erasedAt: string;
}
export type Website = { readonly status: "absent" } | RegisteredWebsite | ErasedWebsite;

const prefix = "website-";
export const websiteStream = (websiteId: string): string => `${prefix}${websiteId}`;
/** Undefined for a stream of another kind. */
export const websiteOfStream = (stream: string): string | undefined =>
  stream.startsWith(prefix) ? stream.slice(prefix.length) : undefined;

/** Stands for the name of an erased website. */
export const erasedName = "(erased)";
/** Stands for a name that no key of this process decrypts. */
export const lostName = "(lost)";

export const initialWebsite = (): Website => ({ status: "absent" });

export const evolveWebsite = (website: Website, event: WebsiteEvent): Website => {
  if (website.status === "erased") return website;
  if (event.type === "WebsiteRegistered") {
    const { websiteId, name, origins, at } = event.data;
    return {
      status: "registered",
      websiteId,
      name,
      origins,
      verifications: [],
      config: {},
      registeredAt: at,
    };
  }
  if (website.status === "absent") return website;
  switch (event.type) {
    case "WebsiteConfigured": {
      const { config, textFormat } = event.data;
      return { ...website, config: { ...config, ...(textFormat && { textFormat }) } };
    }
    case "WebsiteRenamed":
      return { ...website, name: event.data.name };
    case "OriginsChanged":
      return { ...website, origins: evolveOrigins(website.origins, event) };
    case "OriginVerificationIssued": {
      const { at, ...verification } = event.data;
      const ended = website.verifications
        .filter((each) => !isPending(each, at))
        .slice(-maxEndedVerifications);
      return { ...website, verifications: [...ended, ...pending(website, at), verification] };
    }
    case "OriginVerified": {
      const verifications = website.verifications.map((each) =>
        each.hash === event.data.hash ? { ...each, used: true as const } : each,
      );
      return { ...website, verifications, origins: evolveOrigins(website.origins, event) };
    }
    case "WebsiteErased": {
      const { websiteId, registeredAt } = website;
      return { status: "erased", websiteId, registeredAt, erasedAt: event.data.at };
    }
    default:
      return never(event, website);
  }
};

/**
 * The website's origins, for views that need nothing else. Returns the same list if the event does
 * not change it.
 */
export const evolveOrigins = (origins: readonly string[], event: WebsiteEvent): readonly string[] => {
  switch (event.type) {
    case "WebsiteRegistered":
    case "OriginsChanged":
      return event.data.origins;
    case "OriginVerified":
      return origins.includes(event.data.origin) ? origins : [...origins, event.data.origin];
    case "WebsiteErased":
      return [];
    default:
      return origins;
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

/** Replaces the whole stored configuration. */
export const configureWebsite = (
  website: Website,
  { config, at }: { config: StoredConfig; at: string },
): WebsiteEvent[] => {
  if (isSame(requireRegistered(website).config, config)) return [];
  const { textFormat, ...player } = config;
  return [{ type: "WebsiteConfigured", data: { config: player, ...(textFormat && { textFormat }), at } }];
};

export const renameWebsite = (
  website: Website,
  { name, at }: { name: string; at: string },
): WebsiteEvent[] =>
  requireRegistered(website).name === name ? [] : [{ type: "WebsiteRenamed", data: { name, at } }];

export const changeOrigins = (
  website: Website,
  { origins, at }: { origins: readonly string[]; at: string },
): WebsiteEvent[] => {
  if (isSame(requireRegistered(website).origins, origins)) return [];
  return [{ type: "OriginsChanged", data: { origins, at } }];
};

export const maxPendingVerifications = 20;
/** Number of used or expired tokens that are kept. Older ones are unknown. */
export const maxEndedVerifications = 100;

/** Issues a token that verifies the origin when it is presented from there. */
export const issueVerification = (
  website: Website,
  { hash, origin, expiresAt, at }: OriginVerification & { at: string },
): WebsiteEvent[] => {
  const was = requireRegistered(website);
  if (pending(was, at).length >= maxPendingVerifications) {
    throw new Conflict(
      `A website has at most ${maxPendingVerifications} pending verifications: wait until one is used or expires.`,
    );
  }
  if (was.origins.length >= maxOrigins) throw new Conflict(`A website has at most ${maxOrigins} origins.`);
  return [{ type: "OriginVerificationIssued", data: { hash, origin, expiresAt, at } }];
};

/**
 * Returns no event for a token that was used, has expired or was issued for another origin.
 * @throws {Unauthorized} for an unknown token
 */
export const verifyOrigin = (
  website: Website,
  { hash, origin, at }: { hash: string; origin: string; at: string },
): WebsiteEvent[] => {
  const issued = website.status === "registered" ? website.verifications : [];
  const verification = issued.find((each) => each.hash === hash);
  if (!verification) throw unknownVerification();
  if (verification.origin !== origin || !isPending(verification, at)) return [];
  return [{ type: "OriginVerified", data: { hash, origin, at } }];
};

/**
 * Returns no event if the website is erased already.
 * @throws {NotFound}
 */
export const eraseWebsite = (website: Website, { at }: { at: string }): WebsiteEvent[] => {
  if (website.status === "absent") throw unknownWebsite();
  return website.status === "erased" ? [] : [{ type: "WebsiteErased", data: { at } }];
};

export const unknownVerification = (): Unauthorized =>
  new Unauthorized("The verification token is missing or unknown.");

/**
 * Checks that the website exists; never returns an event.
 * @throws {NotFound}
 */
export const requireWebsite = (website: Website): WebsiteEvent[] => {
  requireRegistered(website);
  return [];
};

/** @throws {NotFound} */
export const requireRegistered = (website: Website): RegisteredWebsite => {
  if (website.status === "absent") throw unknownWebsite();
  if (website.status === "erased") throw erasedWebsite();
  return website;
};

/**
 * Checks that the website was not erased; never returns an event.
 * @throws {NotFound}
 */
export const refuseErased = (website: Website): WebsiteEvent[] => {
  if (website.status === "erased") throw erasedWebsite();
  return [];
};

const erasedWebsite = (): NotFound => new NotFound("The website was erased.");
const unknownWebsite = (): NotFound => new NotFound("There is no such website.");

/** Times in one format (ISO 8601, UTC, milliseconds) compare as strings. */
const isPending = ({ used, expiresAt }: OriginVerification, at: string): boolean => !used && at < expiresAt;

const pending = ({ verifications }: RegisteredWebsite, at: string): OriginVerification[] =>
  verifications.filter((each) => isPending(each, at));

/** Members in another order count as a change, which is harmless. */
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export const websiteName = singleLine(200);

/** The URL parser accepts input that is not an origin (blanks, backslashes, missing slashes). */
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

/** Maximum number of origins that an operator can set. Pending verifications may add more. */
const maxOrigins = 100;

export const origins = z
  .array(origin)
  .max(maxOrigins)
  .transform((all) => [...new Set(all)]);
