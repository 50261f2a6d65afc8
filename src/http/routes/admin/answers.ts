import { z } from "zod";
import type {
  NewVerification,
  VerificationOutcome,
} from "../../../application/access/origin-verification.ts";
import type { CredentialsDetails } from "../../../application/accounts/credentials.ts";
import type { KeyDetails, NewKey, NewSecret } from "../../../application/accounts/keys.ts";
import type { NewWebsite, WebsiteDetails } from "../../../application/accounts/websites.ts";
import type { AuditEntry } from "../../../application/usage/audit.ts";
import type { UsageReport } from "../../../application/usage/usage-report.ts";
import { byokEngines } from "../../../domain/accounts/byok-providers.ts";
import { type Plan, tiers } from "../../../domain/accounts/plan.ts";
import { websiteConfig } from "../../../domain/accounts/website-config.ts";

import { SystemVoice, Voice } from "../voices/schemas.ts";
import { pageLinks } from "./paging.ts";

/* What the admin API answers with: the shapes of the application's own, held to them by the compiler. */

const time = z.iso.datetime();
const count = z.int().min(0);

/** Of a list that is answered page by page. */
const page = { count: count.meta({ description: "Entries in this answer." }), _links: pageLinks };

export const plan = z.object({
  tier: z.enum(tiers),
  requestsPerMinute: z.int(),
  monthlyCharacters: z.int().nullable().meta({ description: "null: no limit." }),
}) satisfies z.ZodType<Plan>;

export const newSecret = z.object({
  secretId: z.string(),
  apiSecret: z.string().meta({ description: "Shown this once." }),
}) satisfies z.ZodType<NewSecret>;

export const newKey = z.object({
  ...newSecret.shape,
  apiKey: z.string(),
  websiteId: z.string(),
  plan,
}) satisfies z.ZodType<NewKey>;

export const keyDetails = z.object({
  apiKey: z.string(),
  websiteId: z.string(),
  status: z.enum(["active", "suspended"]),
  suspension: z
    .object({ cause: z.enum(["quota", "operator"]), reason: z.string(), since: time })
    .exactOptional(),
  plan,
  secrets: z.array(z.object({ secretId: z.string(), createdAt: time })),
  issuedAt: time,
  usage: z
    .object({ month: z.string(), characters: count, quota: z.int().nullable() })
    .meta({ description: "This month's (UTC) characters against the quota." }),
}) satisfies z.ZodType<KeyDetails>;

export const keyList = z.object({ keys: z.array(keyDetails), ...page });

export const newWebsite = z.object({
  ...newSecret.shape,
  id: z.string(),
  name: z.string(),
  origins: z.array(z.string()),
  apiKey: z.string(),
  plan,
}) satisfies z.ZodType<NewWebsite>;

export const websiteDetails = z.object({
  id: z.string(),
  name: z.string(),
  origins: z.array(z.string()),
  storedConfig: z.looseObject({}).meta({ description: "What the operator set." }),
  config: websiteConfig,
  registeredAt: time,
}) satisfies z.ZodType<WebsiteDetails>;

export const websiteList = z.object({ websites: z.array(websiteDetails), ...page });

export const newVerification = z.object({
  token: z.string().meta({ description: "Shown this once; used up by the first who presents it." }),
  origin: z.string(),
  expiresAt: time,
}) satisfies z.ZodType<NewVerification>;

/** What the site that presented it is answered. */
export const verifiedOrigin = z.object({
  verified: z.boolean().meta({
    description: "False for a token that was used, has expired or was issued for another origin.",
  }),
  origin: z.string().meta({ description: "The request's `Origin`; empty without one." }),
}) satisfies z.ZodType<VerificationOutcome>;

export const credentialsDetails = z.object({
  engine: z.enum(byokEngines),
  provider: z.string().meta({ description: "As its voices tell it: google, azure, openai." }),
  voices: count.meta({ description: "How many voices the provider listed." }),
  setAt: time,
}) satisfies z.ZodType<CredentialsDetails>;

export const credentialsList = z.object({ credentials: z.array(credentialsDetails), count });

export const catalogList = z.object({
  voices: z.array(Voice),
  systemVoices: z.array(SystemVoice).meta({ description: "Those behind these voices." }),
  ...page,
});

export const systemVoiceList = z.object({ systemVoices: z.array(SystemVoice), ...page });

const tally = { requests: count, characters: count };

export const usageReport = z.object({
  apiKey: z.string(),
  month: z.string(),
  asOf: time,
  quota: z
    .int()
    .nullable()
    .exactOptional()
    .meta({ description: "As of then; absent when the key was not issued yet." }),
  ...tally,
  voided: z.object(tally).meta({
    description: "Servings taken back because no audio was delivered (a 503); not in the other figures.",
  }),
  byDay: z.array(z.object({ ...tally, day: z.string() })),
  byEngine: z.array(z.object({ ...tally, engine: z.string() })),
  byVoice: z.array(z.object({ ...tally, voice: z.string() })),
}) satisfies z.ZodType<UsageReport>;

/** One line of a replay in NDJSON. */
export const auditEntry = z.object({
  position: count.meta({ description: "Where in the log: `after` goes on from here." }),
  stream: z.string(),
  revision: count.meta({ description: "Counts from 0 in its stream without a gap." }),
  id: z.string(),
  type: z.string(),
  at: z.string().meta({ description: "When it happened, ISO 8601 UTC." }),
  data: z.looseObject({}),
  metadata: z.looseObject({}),
}) satisfies z.ZodType<AuditEntry>;
