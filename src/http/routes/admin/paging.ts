import type { Context } from "koa";
import { z } from "zod";
import { Invalid } from "../../../domain/errors.ts";
import { parse } from "../../kernel/validation.ts";

const maxLimit = 1_000;

/** The query of a list. */
export const pageQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(maxLimit)
    .default(500)
    .meta({ description: "Entries in one answer, at most.", examples: [100] }),
  after: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: "The id of the last entry received; `_links.next` has it." }),
});

/** `next` is there while entries follow. */
export const pageLinks = z.object({
  next: z
    .object({ href: z.string() })
    .optional()
    .meta({ description: "The next page, as a reference relative to the address of this one." }),
});

export interface Page<T> {
  readonly entries: readonly T[];
  readonly _links: z.output<typeof pageLinks>;
}

/**
 * The part of a list that the request asks for. The list's order must be stable: new entries at its end, none removed.
 * @throws {Invalid} for a limit out of range, and for an `after` that is not in the list
 */
export const pageOf = <T>(
  { query }: Pick<Context, "query">,
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
  // A query alone: the path that the operator sees may be another one, behind a proxy.
  return { entries, _links: { next: { href: `?${more}` } } };
};
