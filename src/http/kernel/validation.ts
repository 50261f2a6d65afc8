import { z } from "zod";
import { parse } from "../../domain/validation.ts";

export { parse };

/** What a name in a path may be: no name is longer. */
export const pathParameter = z.string().min(1).max(200);

/** A parameter of the route's path, decoded. @throws {Invalid} when it is longer than any name there is */
export const paramOf = ({ params }: { params: Readonly<Record<string, string>> }, name: string): string =>
  parse(pathParameter, params[name]);
