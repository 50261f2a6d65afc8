import { extname } from "node:path";
import type { Context } from "koa";
import { z } from "zod";
import type { ZodOpenApiContentObject } from "zod-openapi";
import { NotFound } from "../../../domain/errors.ts";
import { immutable, revalidate } from "../../caching/cache-control.ts";
import { contentSecurityPolicy, etag, ifNoneMatch, noSniff } from "../../kernel/headers.ts";
import { type Operation, pathParams, serviceOperation } from "../../kernel/operation.ts";
import { respondTagged, type TaggedContent, taggedContent } from "../../kernel/tagged-content.ts";

/**
 * Forbids framing, everything inline, and everything from other origins, except connections to the
 * given one. Audio may be played from memory.
 */
export const pagePolicy = (connectTo?: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self'${connectTo ? ` ${connectTo}` : ""}`,
    "media-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/**
 * The path from a page to the root of the service. Relative URLs also work behind a proxy that adds
 * a path prefix.
 */
export const pathToRoot = ({ path }: Context): string => (path.endsWith("/") ? "../" : "./");

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes what becomes the content of an element, or an attribute in double quotes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (sign) => entities[sign] ?? sign);

interface BundledPage {
  readonly path: `/${string}`;
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  /** The Content-Security-Policy. Default: `pagePolicy()`. */
  readonly policy?: string;
  write(ctx: Context): Promise<string>;
}

/** A page without data, whose scripts are bundled. */
export const bundledPageOperation = ({
  description,
  policy = pagePolicy(),
  write,
  ...declared
}: BundledPage): Operation =>
  serviceOperation({
    ...declared,
    cors: "same origin",
    cache: [revalidate],
    headers: ifNoneMatch,
    responses: {
      200: {
        description,
        headers: { ...etag, ...contentSecurityPolicy, ...noSniff },
        content: { "text/html": { schema: z.string() } },
      },
      304: {
        description: "The caller has the current page.",
        headers: { ...etag, ...contentSecurityPolicy, ...noSniff },
      },
    },
    errors: [503],
    handle: async (_, ctx) => {
      const page = await write(ctx);
      ctx.set({ "Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff" });
      respondTagged(ctx, taggedContent(Buffer.from(page)), "text/html; charset=utf-8");
    },
  });

/** A file that a page loads. */
export interface PageFile {
  readonly type: string;
  readonly content: TaggedContent;
}

const bundledTypes: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** A script or style sheet of a bundle. */
export const bundledFile = (name: string, content: TaggedContent | undefined): PageFile | undefined =>
  content && { type: bundledTypes[extname(name)] ?? "", content };

interface PageFiles {
  readonly path: `${string}/{version}/{file}`;
  readonly id: string;
  readonly summary: string;
  readonly parameters: { readonly version: z.ZodString; readonly file: z.ZodString };
  readonly content: ZodOpenApiContentObject;
  /** The error statuses besides 404. */
  readonly errors?: readonly 503[];
  find(version: string, file: string): Promise<PageFile | undefined>;
}

/** The files of a page. Their URLs contain a version, so that caches can store them forever. */
export const pageFileOperation = ({
  parameters,
  content,
  errors = [],
  find,
  ...declared
}: PageFiles): Operation =>
  serviceOperation({
    ...declared,
    cors: "same origin",
    cache: [immutable],
    headers: ifNoneMatch,
    params: pathParams(parameters),
    responses: {
      200: { description: "The file.", headers: { ...etag, ...noSniff }, content },
      304: { description: "The caller has the file.", headers: { ...etag, ...noSniff } },
    },
    errors: [404, ...errors],
    handle: async ({ params }, ctx) => {
      const file = await find(params.version, params.file);
      if (!file) throw new NotFound("There is no such file.");
      ctx.set("X-Content-Type-Options", "nosniff");
      respondTagged(ctx, file.content, file.type);
    },
  });

/**
 * The English name of a language, such as "British English", or the tag itself if it has none. A
 * private part of the tag (`-x-`) follows in parentheses.
 */
export const languageName = (lang: string): string => {
  const [tag = lang, part] = lang.split("-x-");
  try {
    const name = new Intl.DisplayNames("en", { type: "language" }).of(tag) ?? tag;
    return part === undefined ? name : `${name} (${part})`;
  } catch {
    return lang;
  }
};
