import { randomBytes } from "node:crypto";
import { allKeys, findKey } from "../../../projections/keys.ts";
import { websiteNameOf } from "../../../projections/websites.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { CommandHandler } from "../../eventstore/command-handler.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import type { KnownEntries } from "../../ledger/accounts/known-entries.ts";
import type { ChargesSource } from "../../ledger/accounts/read-charges.ts";
import { createUsageReader, totalsByJournal } from "../../ledger/accounts/usage-reader.ts";
import { createAudit } from "../../ledger/audit/audit.ts";
import { createCountEvents } from "../../ledger/audit/event-counts.ts";
import { createCarryOverUsage } from "../../ledger/quota/carry-over.ts";
import { createChargeReader } from "../../ledger/reports/charges-between.ts";
import { createCountUsage, type ReadCountedUsage } from "../../ledger/reports/counted-usage.ts";
import { createDailyUsage } from "../../ledger/reports/daily-usage.ts";
import { createOwnUsage } from "../../ledger/reports/own-usage.ts";
import { createReportQueue } from "../../ledger/reports/report-queue.ts";
import { createUsageBuckets } from "../../ledger/reports/usage-buckets.ts";
import { createUsageReport } from "../../ledger/reports/usage-report.ts";
import { createCredentialsService } from "../accounts/credentials.ts";
import type { CredentialsCipher } from "../accounts/credentials-cipher.ts";
import type { DataKeys } from "../accounts/data-keys.ts";
import { createKeyHistory } from "../accounts/key-history.ts";
import { createKeys } from "../accounts/keys.ts";
import type { Providers } from "../accounts/list-provider-voices.ts";
import { createOriginVerification } from "../accounts/origin-verification.ts";
import { createWebsites } from "../accounts/websites.ts";
import { createCatalogService } from "../catalog/catalog.ts";
import type { UrgentTime } from "../clock/urgent-time.ts";
import type { ExecuteCommand } from "../execute-command.ts";
import { createLexicons } from "../lexicons/lexicons.ts";
import { WebhooksService } from "../webhooks/webhooks.ts";
import type { AdminViews } from "./views.ts";
import { createWebsiteRecord } from "./website-record.ts";

interface AdminServicesOptions {
  readonly store: EventStore;
  /** The unposted entries in memory. If absent, they are read from the journals. */
  readonly knownEntries?: KnownEntries;
  /** The event store that returns malformed events as they are stored: an audit omits nothing. */
  readonly storeAsWritten: EventStore;
  readonly views: AdminViews;
  readonly handler: CommandHandler;
  readonly execute: ExecuteCommand;
  readonly providers: Providers;
  readonly cipher: () => Promise<CredentialsCipher>;
  readonly dataKeys: Pick<DataKeys, "reencrypt">;
  /** Returns why a webhook's address is not allowed; undefined if it is. */
  readonly webhookRefusal: (url: URL) => string | undefined;
  /** See `createCatalogService`. */
  readonly findInstalled: () => Promise<(voiceName: string) => boolean>;
  readonly clock: () => EpochMs;
  readonly urgentTime: UrgentTime;
  /** Reads the usage that views have counted. If absent, it is read from the accounts of keys. */
  readonly readCountedUsage?: ReadCountedUsage;
  /** True if the clock is known to differ from the event store's by at most 60 s. */
  readonly isClockRight: () => boolean;
  /** If false, keys are described without their usage. Default: true. */
  readonly readsUsage?: boolean;
  /**
   * If false, keys are described without the names of their websites, whose view was not read.
   * Default: true.
   */
  readonly namesWebsites?: boolean;
}

export type AdminServices = ReturnType<typeof composeAdminServices>;

/** The services behind the admin API and the command line, and a key's report of its own usage. */
export const composeAdminServices = ({
  store,
  knownEntries,
  storeAsWritten,
  views,
  handler,
  execute,
  providers,
  cipher,
  dataKeys,
  webhookRefusal,
  findInstalled,
  clock,
  urgentTime,
  isClockRight,
  readCountedUsage,
  readsUsage = true,
  namesWebsites = true,
}: AdminServicesOptions) => {
  const { websites, keys: keysView, credentials, catalog, lexicons, deliveries } = views;
  const charges = { store, known: knownEntries };
  const usageReader = createUsageReader(charges);
  const commands = { execute, clock, random: randomBytes };
  const keys = createKeys({
    ...commands,
    urgentTime,
    keys: keysView,
    websiteName: (id) => (namesWebsites ? websiteNameOf(websites, id) : undefined),
    ...(readsUsage && {
      countUsage: readCountedUsage
        ? createCountUsage({ readCountedUsage, accounts: usageReader })
        : usageReader.countsOf,
    }),
    carryOverUsage: createCarryOverUsage(
      handler,
      (...account) => totalsByJournal(charges, ...account),
      clock,
    ),
  });
  const webhooks = new WebhooksService({
    ...commands,
    webhooks: views.webhooks,
    deliveries,
    cipher,
    refusalOf: webhookRefusal,
  });
  const accounts = {
    websites: createWebsites({ ...commands, websites, keys }),
    keys,
    credentials: createCredentialsService({
      ...commands,
      websites,
      credentials,
      providers,
      cipher,
      reencryptOthers: [webhooks.reencrypt, dataKeys.reencrypt],
    }),
    webhooks,
    lexicons: createLexicons({ ...commands, websites, lexicons }),
  };
  return {
    ...accounts,
    readKeyHistory: createKeyHistory({ store: storeAsWritten }),
    readWebsiteRecord: createWebsiteRecord({
      ...accounts,
      websitesView: websites,
      countUsage: usageReader.countsOf,
      store: storeAsWritten,
      clock,
    }),
    originVerification: createOriginVerification({ ...commands, websites }),
    catalog: createCatalogService({ ...commands, catalog, findInstalled }),
    ...composeReports({ charges, storeAsWritten, clock, isClockRight }, usageReader, keysView),
  };
};

/** The reports of the log's events and of usage. */
const composeReports = (
  {
    charges,
    storeAsWritten,
    clock,
    isClockRight,
  }: Pick<AdminServicesOptions, "storeAsWritten" | "clock" | "isClockRight"> & {
    readonly charges: ChargesSource;
  },
  accounts: ReturnType<typeof createUsageReader>,
  keys: AdminViews["keys"],
) => {
  const queue = createReportQueue();
  const asWritten = { ...charges, store: storeAsWritten };
  const reportUsage = createUsageReport({ store: charges.store, accounts, clock, isClockRight });
  const reportUsageBuckets = createUsageBuckets({
    readCharges: createChargeReader(charges),
    queue,
    keys: (apiKey) => (apiKey === undefined ? allKeys(keys) : [findKey(keys, apiKey) ?? []].flat()),
    clock,
  });
  return {
    audit: createAudit({ ...asWritten, clock }),
    countEvents: createCountEvents({ ...asWritten, queue: createReportQueue(), clock }),
    reportUsage,
    reportOwnUsage: createOwnUsage({ reportUsage, queue }),
    reportUsageBuckets,
    reportDailyUsage: createDailyUsage({ reportUsageBuckets, clock }),
  };
};
