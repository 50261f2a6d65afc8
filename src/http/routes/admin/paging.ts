import { z } from "zod";
import { Invalid } from "../../../domain/errors.ts";
import { queryParams } from "../../kernel/operation.ts";
import { count } from "./admin-operation.ts";

/** The parameters of every list. */
export const pageParameters = {
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
};

/** The filter of lists that can be long. */
export const search = z
  .string()
  .max(200)
  .optional()
  .meta({
    description: "Only entries whose id or name contains this text, in any case.",
    examples: ["example"],
  });

/** True if one of the texts contains the searched one. */
export const matches = (searched: string | undefined, texts: readonly (string | undefined)[]): boolean => {
  const wanted = searched?.trim().toLowerCase() ?? "";
  return wanted === "" || texts.some((text) => text?.toLowerCase().includes(wanted));
};

/** The query of a list. */
export const pageQuery = queryParams(z.object(pageParameters));

type PageQuery = z.output<(typeof pageQuery)["schema"]> & Readonly<Record<string, unknown>>;

/** The filters that the request has. */
const given = (filters: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
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

/** The member of a filtered list that counts all matching entries. */
export const total = count.meta({
  description: "The number of entries that match the filters, on all pages.",
});

interface Page<T> {
  readonly entries: readonly T[];
  readonly _links: z.output<typeof pageLinks>;
}

/**
 * Returns one page of the included entries of a list. The list's order must be stable: new entries
 * are added at the end, and none is removed. Entries may cease to be included between two pages.
 * @throws {Invalid} for an `after` that is not in the list
 */
export const pageOf = <T>(
  { limit, after, ...filters }: PageQuery,
  all: readonly T[],
  idOf: (entry: T) => string,
  isIncluded: (entry: T) => boolean = () => true,
): Page<T> => {
  const from = after === undefined ? 0 : all.findIndex((entry) => idOf(entry) === after) + 1;
  if (after !== undefined && from === 0) {
    throw new Invalid([{ path: ["after"], message: "after is not the id of an entry." }]);
  }
  const rest = all.slice(from).filter(isIncluded);
  const entries = rest.slice(0, limit);
  const last = entries.at(-1);
  if (!last || rest.length <= limit) return { entries, _links: {} };
  const more = new URLSearchParams({ ...given(filters), limit: String(limit), after: idOf(last) });
  // The link is only a query, because the operator may see another path behind a proxy.
  return { entries, _links: { next: { href: `?${more}` } } };
};
