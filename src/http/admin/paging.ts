import type { Context } from "koa";
import { z } from "zod";
import { Invalid } from "../../domain/errors.ts";
import { parse } from "../validation.ts";

const maxLimit = 1_000;

/** The query of a list. */
export const pageQuery = z.object({
  limit: z.coerce
    .number()
    .pipe(z.int().min(1).max(maxLimit))
    .default(500)
    .meta({ description: "Entries in one answer, at most.", examples: [100] }),
  after: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: "The id of the last entry received; `_links.next` has it." }),
});

/** `next` is there while entries follow; its address is relative to the service's host. */
export const pageLinks = z.object({ next: z.object({ href: z.string() }).optional() });

export interface Page<T> {
  readonly entries: readonly T[];
  readonly _links: z.output<typeof pageLinks>;
}

/**
 * The part of a list that the request asks for. The list's order must be stable: new entries at its end, none removed.
 * @throws {Invalid} for a limit out of range, and for an `after` that is not in the list
 */
export const pageOf = <T>(
  { path, query }: Pick<Context, "path" | "query">,
  all: readonly T[],
  idOf: (entry: T) => string,
): Page<T> => {
  const { limit, after } = parse(pageQuery, query);
  const from = after === undefined ? 0 : all.findIndex((entry) => idOf(entry) === after) + 1;
  if (after !== undefined && from === 0) {
    throw new Invalid([{ path: ["after"], message: "after is not the id of an entry." }]);
  }
  const entries = all.slice(from, from + limit);
  const last = entries.at(-1);
  if (!last || from + limit >= all.length) return { entries, _links: {} };
  const more = new URLSearchParams({ limit: String(limit), after: idOf(last) });
  return { entries, _links: { next: { href: `${path}?${more}` } } };
};
