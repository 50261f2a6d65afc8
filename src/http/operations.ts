import type { AccessTokens } from "../application/access/access-tokens.ts";
import type { FailedAttempts } from "../application/access/failed-attempts.ts";
import type { OriginVerification } from "../application/access/origin-verification.ts";
import type { CredentialsService } from "../application/accounts/credentials.ts";
import type { Keys } from "../application/accounts/keys.ts";
import type { Websites } from "../application/accounts/websites.ts";
import type { CatalogService } from "../application/catalog/catalog.ts";
import type { ReportVoices } from "../application/catalog/voice-reports.ts";
import type { Voices } from "../application/catalog/voices.ts";
import type { CheckHealth } from "../application/health/health.ts";
import type { ReadinessCheck } from "../application/health/readiness.ts";
import type { Audit } from "../application/usage/audit.ts";
import type { ReportUsage } from "../application/usage/usage-report.ts";
import { taggedJson } from "./caching/tagged-json.ts";
import type { AudioDuration } from "./kernel/audio-body.ts";
import type { ClientAddress } from "./kernel/client-address.ts";
import type { HeaderNames } from "./kernel/headers.ts";
import type { Operation } from "./kernel/operation.ts";
import { createPublicUrl } from "./kernel/public-url.ts";
import { describeApi } from "./openapi/document.ts";
import { accessOperations } from "./routes/access.ts";
import { credentialOperations } from "./routes/admin/credentials.ts";
import { keyOperations } from "./routes/admin/keys.ts";
import { auditOperation, usageOperation } from "./routes/admin/ledger.ts";
import { catalogOperations } from "./routes/admin/voices.ts";
import { websiteOperations } from "./routes/admin/websites.ts";
import { audioOperation, type FetchObject } from "./routes/audio.ts";
import { type ClientScript, clientScriptOperation } from "./routes/docs/client-script.ts";
import { docsOperations } from "./routes/docs/docs.ts";
import { openApiOperation } from "./routes/docs/openapi.ts";
import { rootOperation } from "./routes/docs/root.ts";
import { healthOperations } from "./routes/health.ts";
import { type SynthesisOptions, synthesisOperations } from "./routes/synthesis/synthesis.ts";
import { voiceOperations } from "./routes/voices/voices.ts";
import { openStreamOperation } from "./websocket/operation.ts";

/** The application services and settings of the operations. */
export interface OperationOptions extends Omit<SynthesisOptions, "publicUrl"> {
  readonly settings: { readonly publicUrl: string | undefined; readonly trustProxy: readonly string[] };
  readonly names: HeaderNames;
  readonly voices: Voices;
  readonly reportVoices: ReportVoices;
  readonly websites: Websites;
  readonly keys: Keys;
  readonly credentials: CredentialsService;
  readonly catalog: CatalogService;
  readonly accessTokens: AccessTokens;
  readonly originVerification: OriginVerification;
  readonly failedAttempts: FailedAttempts;
  readonly clientOf: ClientAddress;
  readonly audit: Audit;
  readonly reportUsage: ReportUsage;
  readonly fetchObject: FetchObject;
  readonly audioDuration: AudioDuration;
  readonly checkHealth: CheckHealth;
  readonly readiness: ReadinessCheck;
  readonly clientScript: ClientScript;
}

/** Every operation of the service; the OpenAPI document that describes them is one of them. */
export const createOperations = (options: OperationOptions): readonly Operation[] => {
  const { settings, names } = options;
  const { publicUrl } = settings;
  const operations: readonly Operation[] = [
    ...synthesisOperations({ ...options, publicUrl }),
    openStreamOperation(),
    ...voiceOperations({ ...options, publicUrl: createPublicUrl(settings) }),
    ...accessOperations(options),
    audioOperation(options),
    rootOperation(settings),
    ...healthOperations(options),
    openApiOperation(() => document),
    clientScriptOperation(options.clientScript),
    ...docsOperations(settings),
    ...websiteOperations(options),
    ...credentialOperations(options),
    ...keyOperations(options),
    ...catalogOperations(options),
    usageOperation(options),
    auditOperation(options),
  ];
  const document = taggedJson(describeApi({ operations, names, publicUrl }));
  return operations;
};
