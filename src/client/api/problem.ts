/** A problem of an invalid request. */
export type { Problem } from "../../domain/errors.ts";
