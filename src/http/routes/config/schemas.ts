import { z } from "zod";
import { websiteConfig } from "../../../domain/accounts/website-config.ts";

/* What `GET /v2/config` answers with, under the names of the description. */

export const WebsiteConfig = websiteConfig;

/** `exp` in unix seconds. */
export const AuthToken = z.object({ exp: z.int(), token: z.string() });

/** The whole configuration, and a token for the requests that follow. */
export const ConfigResponse = z.object({ ...websiteConfig.shape, auth: AuthToken });
