import Router from "@koa/router";
import type { OriginVerification } from "../../../application/access/origin-verification.ts";
import type { CredentialsService } from "../../../application/accounts/credentials.ts";
import type { Keys } from "../../../application/accounts/keys.ts";
import type { Websites } from "../../../application/accounts/websites.ts";
import type { CatalogService } from "../../../application/catalog/catalog.ts";
import type { Audit } from "../../../application/usage/audit.ts";
import type { ReportUsage } from "../../../application/usage/usage-report.ts";
import { jsonBody } from "../../kernel/json-body.ts";
import { auditRoutes } from "./audit.ts";
import { type OperatorAccess, operatorOnly } from "./authorize.ts";
import { credentialRoutes } from "./credentials.ts";
import { keyRoutes } from "./keys.ts";
import { usageRoutes } from "./usage.ts";
import { catalogRoutes } from "./voices.ts";
import { websiteRoutes } from "./websites.ts";

/** Everything under `/admin`, for the operator alone. */
export const adminRoutes = ({
  websites,
  keys,
  originVerification,
  credentials,
  catalog,
  audit,
  reportUsage,
  ...access
}: OperatorAccess & {
  websites: Websites;
  keys: Keys;
  originVerification: OriginVerification;
  credentials: CredentialsService;
  catalog: CatalogService;
  audit: Audit;
  reportUsage: ReportUsage;
}): Router => {
  const router = new Router();
  router.use(operatorOnly(access), jsonBody());
  for (const routes of [
    websiteRoutes({ websites, originVerification }),
    credentialRoutes({ credentials }),
    keyRoutes({ keys }),
    catalogRoutes({ catalog }),
    usageRoutes({ reportUsage }),
    auditRoutes({ audit }),
  ]) {
    router.use(routes.routes());
  }
  return router;
};
