import type { z } from "zod";
import { parse } from "../../kernel/validation.ts";
import { queryValues } from "../synthesis/request.ts";
import { VoicesQuery } from "./schemas.ts";

/**
 * The filters of a query; empty parameters count as absent, unknown ones are ignored.
 * @throws {Invalid} for a parameter that is given twice, is too long or is invalid
 */
export const voicesQuery = (query: string): z.output<typeof VoicesQuery> =>
  parse(VoicesQuery, queryValues(query, Object.keys(VoicesQuery.shape)));
