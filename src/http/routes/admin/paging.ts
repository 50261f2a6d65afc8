import { z } from "zod";
import { Invalid } from "../../../domain/errors.ts";
import { queryParams } from "../../kernel/operation.ts";
import { count } from "./admin-operation.ts";

/** The query of a list. */
export const pageQuery = queryParams(
  z.object({
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(1_000)
      .default(500)
      .meta({ description: "The maximum number of entries in the response.", examples: [100] }),
    after: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .meta({ description: "The id of the last entry received, as in `_links.next`." }),
  }),
);

const pageLinks = z.object({
  next: z
    .object({ href: z.string() })
    .optional()
    .meta({ description: "The next page, as a reference relative to this URL. Absent on the last page." }),
});

/** The members of a response that is one page of a list. */
export const pageMembers = {
  count: count.meta({ description: "The number of entries in this response." }),
  _links: pageLinks,
};

interface Page<T> {
  readonly entries: readonly T[];
  readonly _links: z.output<typeof pageLinks>;
}

/**
 * One page of a list. The list's order must be stable: new entries are added at the end, and none is removed.
 * @throws {Invalid} for an `after` that is not in the list
 */
export const pageOf = <T>(
  { limit, after }: z.output<(typeof pageQuery)["schema"]>,
  all: readonly T[],
  idOf: (entry: T) => string,
): Page<T> => {
  const from = after === undefined ? 0 : all.findIndex((entry) => idOf(entry) === after) + 1;
  if (after !== undefined && from === 0) {
    throw new Invalid([{ path: ["after"], message: "after is not the id of an entry." }]);
  }
  const entries = all.slice(from, from + limit);
  const last = entries.at(-1);
  if (!last || from + limit >= all.length) return { entries, _links: {} };
  const more = new URLSearchParams({ limit: String(limit), after: idOf(last) });
  // Only a query: behind a proxy the operator may see another path.
  return { entries, _links: { next: { href: `?${more}` } } };
};
