import { randomBytes } from "node:crypto";
import type { CatalogState } from "../../projections/catalog.ts";
import type { MonthlyUsage } from "../../projections/monthly-quota.ts";
import type { View } from "../../projections/runner/runner.ts";
import type { UsageTotals } from "../../projections/usage-totals.ts";
import {
  createOriginVerification,
  type OriginVerification,
} from "../application/access/origin-verification.ts";
import { type CredentialsService, createCredentialsService } from "../application/accounts/credentials.ts";
import { createKeys, type Keys } from "../application/accounts/keys.ts";
import type { Providers } from "../application/accounts/providers.ts";
import type { Sealing } from "../application/accounts/sealing.ts";
import { createWebsites, type Websites } from "../application/accounts/websites.ts";
import { type CatalogService, createCatalogService } from "../application/catalog/catalog.ts";
import type { Execute } from "../application/commands.ts";
import { type Audit, createAudit } from "../application/usage/audit.ts";
import { createUsageReport, type ReportUsage } from "../application/usage/usage-report.ts";
import type { Credentials } from "../domain/accounts/credentials.ts";
import type { Key } from "../domain/accounts/key.ts";
import type { Website } from "../domain/accounts/website.ts";
import type { EventStore } from "../eventstore/event-store.ts";

/** The services behind the admin API and the command line. */
export interface AdminServices {
  readonly websites: Websites;
  readonly keys: Keys;
  readonly originVerification: OriginVerification;
  readonly credentials: CredentialsService;
  readonly catalog: CatalogService;
  readonly audit: Audit;
  readonly reportUsage: ReportUsage;
}

export interface AdminViews {
  readonly websites: View<Website>;
  readonly keys: View<Key>;
  readonly credentials: View<Credentials>;
  readonly catalog: View<CatalogState>;
  /** Without it, keys are listed without their usage. */
  readonly quotas?: View<MonthlyUsage>;
  /** Without it, usage is folded from the key's stream of the month. */
  readonly totals?: View<UsageTotals>;
}

export const composeAdminServices = ({
  store,
  log,
  views,
  execute,
  providers,
  sealing,
  clock,
}: {
  readonly store: EventStore;
  /** The same log with malformed events as stored: an audit omits nothing. */
  readonly log: EventStore;
  readonly views: AdminViews;
  readonly execute: Execute;
  readonly providers: Providers;
  readonly sealing: () => Promise<Sealing>;
  readonly clock: () => number;
}): AdminServices => {
  const { websites, keys: keysView, credentials, catalog, quotas, totals } = views;
  const commands = { execute, clock, random: randomBytes };
  const keys = createKeys({ ...commands, keys: keysView, ...(quotas && { quotas }) });
  return {
    websites: createWebsites({ ...commands, websites, keys }),
    keys,
    originVerification: createOriginVerification(commands),
    credentials: createCredentialsService({ ...commands, websites, credentials, providers, sealing }),
    catalog: createCatalogService({ ...commands, catalog }),
    audit: createAudit({ store: log, clock }),
    reportUsage: createUsageReport({ store, clock, ...(totals && { totals }) }),
  };
};
