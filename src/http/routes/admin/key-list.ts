import { z } from "zod";
import type { KeyDetails, Keys } from "../../../application/accounts/keys.ts";
import { Invalid } from "../../../domain/errors.ts";
import { queryParams } from "../../kernel/operation.ts";
import { matches, pageOf, pageParameters, search } from "./paging.ts";

/** Keys may be sorted by these values, and by their usage. */
const keyOrders = {
  issued: ({ issuedAt }: KeyDetails) => issuedAt,
  website: ({ websiteName = "" }: KeyDetails) => websiteName.toLowerCase(),
  plan: ({ plan }: KeyDetails) => plan.tier,
  status: ({ status }: KeyDetails) => status,
};

export const keyQuery = queryParams(
  z.object({
    ...pageParameters,
    search,
    status: z.enum(["active", "suspended"]).optional(),
    sort: z
      .enum(["usage", ...(Object.keys(keyOrders) as (keyof typeof keyOrders)[])])
      .default("issued")
      .meta({
        description:
          "`usage`: by this month's characters. Keys with the same value are in the order of their issuance; with the same usage, of their ids.",
      }),
    order: z.enum(["ascending", "descending"]).default("ascending"),
  }),
);

type KeyQuery = z.output<(typeof keyQuery)["schema"]>;

const keyFilter =
  ({ search, status }: Pick<KeyQuery, "search" | "status">) =>
  ({ apiKey, websiteId, websiteName, plan, ...key }: KeyDetails): boolean =>
    (status === undefined || key.status === status) &&
    matches(search, [apiKey, websiteId, websiteName, plan.tier]);

const sortKeys = (
  keys: readonly KeyDetails[],
  sort: keyof typeof keyOrders,
  order: KeyQuery["order"],
): readonly KeyDetails[] => {
  const value = keyOrders[sort];
  const sorted = sort === "issued" ? keys : keys.toSorted((a, b) => compare(value(a), value(b)));
  return order === "descending" ? sorted.toReversed() : sorted;
};

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : Number(a > b));

/** A place in the list by usage. It stays valid when the usage of its key changes. */
interface UsagePlace {
  readonly characters: number;
  readonly apiKey: string;
}

const placeOf = ({ apiKey, usage }: KeyDetails): UsagePlace => ({
  apiKey,
  characters: usage?.characters ?? 0,
});

const parsePlace = (after: string): UsagePlace => {
  const [, characters, apiKey] = /^(-?\d{1,15})\.(.+)$/.exec(after) ?? [];
  if (apiKey === undefined) {
    throw new Invalid([{ path: ["after"], message: "after is not from `_links.next` of a list by usage." }]);
  }
  return { characters: Number(characters), apiKey };
};

const comparePlaces = (a: UsagePlace, b: UsagePlace): number =>
  compare(a.characters, b.characters) || compare(a.apiKey, b.apiKey);

/**
 * Returns a page of the keys in the order of their usage. A key whose usage has not changed since
 * the page before is neither skipped nor repeated.
 */
const pageByUsage = async (keys: Keys, { after, ...query }: KeyQuery) => {
  const sign = query.order === "descending" ? -1 : 1;
  const found = await keys.addUsage(keys.list().filter(keyFilter(query)));
  const sorted = found.toSorted((a, b) => sign * comparePlaces(placeOf(a), placeOf(b)));
  const last = after === undefined ? undefined : parsePlace(after);
  const rest = last ? sorted.filter((key) => sign * comparePlaces(placeOf(key), last) > 0) : sorted;
  const idOf = (key: KeyDetails): string => `${placeOf(key).characters}.${key.apiKey}`;
  const { entries, _links } = pageOf(query, rest, idOf);
  return { keys: entries, total: found.length, count: entries.length, _links };
};

/** A page of the keys that match. */
export const pageOfKeys = async (keys: Keys, query: KeyQuery) => {
  if (query.sort === "usage") return await pageByUsage(keys, query);
  const all = sortKeys(keys.list(), query.sort, query.order);
  const isFound = keyFilter(query);
  const { entries, _links } = pageOf(query, all, ({ apiKey }) => apiKey, isFound);
  const total = all.filter(isFound).length;
  return { keys: await keys.addUsage(entries), total, count: entries.length, _links };
};
