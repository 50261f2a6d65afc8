import type { ZodOpenApiPathsObject } from "zod-openapi";
import type { Described } from "../described.ts";
import { describeCall } from "./admin/call.ts";
import { credentialPaths } from "./admin/credentials.ts";
import { keyPaths } from "./admin/keys.ts";
import { ledgerPaths } from "./admin/ledger.ts";
import { catalogPaths } from "./admin/voices.ts";
import { websitePaths } from "./admin/websites.ts";

/** `/admin`, the operator's interface. */
export const adminPaths = (described: Described): ZodOpenApiPathsObject => {
  const call = describeCall(described);
  return {
    ...websitePaths(call),
    ...credentialPaths(call),
    ...keyPaths(call),
    ...catalogPaths(call),
    ...ledgerPaths(call),
  };
};
