import { NotFound } from "../../domain/errors.ts";
import type { Authenticator } from "./authentication.ts";
import type { ActingKey } from "./principal.ts";

/** Finds a key that may be used: it exists, and is not suspended. */
export type FindActiveKey = (apiKey: string) => ActingKey | undefined;

export const createFindActiveKey =
  ({ actFor }: Pick<Authenticator, "actFor">): FindActiveKey =>
  (apiKey) => {
    try {
      const key = actFor(apiKey);
      return key.suspension === undefined ? key : undefined;
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  };
