import { z } from "zod";
import type { AddressQuery } from "../../application/articles/audio-addresses.ts";
import type { RequestPart } from "../kernel/operation.ts";

/** What an article adds to the addresses of its parts. Any other value counts as absent. */
export const addressQuery: RequestPart<AddressQuery, z.ZodObject> = {
  schema: z.object({
    signature: z
      .string()
      .optional()
      .meta({ description: "In addresses from `POST /v2/articles`: the service has promised this audio." }),
    key: z
      .string()
      .optional()
      .meta({ description: "In addresses of private audio: the API key for which it was signed." }),
    engine: z
      .string()
      .optional()
      .meta({ description: "In addresses of private audio: the engine that speaks it." }),
    expires: z
      .string()
      .optional()
      .meta({ description: "In addresses of private audio: valid until this time (Unix seconds)." }),
  }),
  read: ({ query }) => {
    const one = (name: string): string | undefined => {
      const value = query[name];
      return typeof value === "string" && value.length <= 100 ? value : undefined;
    };
    return { signature: one("signature"), key: one("key"), engine: one("engine"), expires: one("expires") };
  },
};
