import type { z } from "zod";
import { queryValues } from "../synthesis/request.ts";
import { parse } from "../validation.ts";
import { VoicesQuery } from "./schemas.ts";

/**
 * The platform that a query names; empty parameters count as absent, unknown ones are left alone.
 * @throws {Invalid} for a parameter that is given twice or is too long
 */
export const platformQuery = (query: string): z.output<typeof VoicesQuery> => {
  const values = Object.entries(queryValues(query, Object.keys(VoicesQuery.shape)));
  return parse(VoicesQuery, Object.fromEntries(values.filter(([, value]) => value !== "")));
};
