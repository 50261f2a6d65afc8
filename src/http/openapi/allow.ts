import type { Middleware } from "koa";
import type { OpenApiDocument } from "./document.ts";

/**
 * `Allow` names the methods that the description has for the path, and HEAD with GET. Without this it would also name those of other paths
 * that fit: `/v2/voices/{name}` fits `/v2/voices/report`.
 */
export const allowDescribed = ({ paths = {} }: Pick<OpenApiDocument, "paths">): Middleware => {
  const described = Object.entries(paths)
    .map(([template, item]) => ({
      parameters: template.split("{").length,
      fits: new RegExp(`^${template.replace(/\{[^}]+\}/g, "[^/]+")}/?$`, "i"),
      allow: allowOf(Object.keys(item)),
    }))
    .sort((a, b) => a.parameters - b.parameters);
  return async (ctx, next) => {
    await next();
    if (ctx.headerSent || !ctx.response.get("Allow")) return;
    const path = ctx.path.replace(/%3a/i, ":");
    const found = described.find(({ fits }) => fits.test(path));
    if (found) ctx.set("Allow", found.allow);
  };
};

const allowOf = (methods: readonly string[]): string => {
  const all = methods.includes("get") ? new Set(["head", ...methods]) : methods;
  return [...all].join(", ").toUpperCase();
};
