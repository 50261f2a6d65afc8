import { lazy } from "../async/lazy.ts";
import type { Operation } from "./kernel/operation.ts";
import { createPublicUrl } from "./kernel/public-url.ts";
import { taggedJson } from "./kernel/tagged-content.ts";
import { accessOperations } from "./routes/access.ts";
import { audioReportOperations, deleteAudioOperation } from "./routes/admin/audio-reports.ts";
import { catalogOperations } from "./routes/admin/catalog.ts";
import { credentialOperations } from "./routes/admin/credentials.ts";
import { keyOperations } from "./routes/admin/keys.ts";
import { eventOperations } from "./routes/admin/ledger/events.ts";
import { proofOperation } from "./routes/admin/ledger/proof.ts";
import { auditOperation, usageOperation } from "./routes/admin/ledger/usage-and-audit.ts";
import { usageOverviewOperation } from "./routes/admin/ledger/usage-overview.ts";
import { lexiconOperations } from "./routes/admin/lexicons.ts";
import { sessionOperation } from "./routes/admin/session.ts";
import { keySpeechOperation } from "./routes/admin/speech.ts";
import { statusOperations } from "./routes/admin/status.ts";
import { voiceChoiceOperations } from "./routes/admin/voice-choice.ts";
import { webhookOperations } from "./routes/admin/webhooks.ts";
import { websiteOperations } from "./routes/admin/websites.ts";
import { articleOperation } from "./routes/articles.ts";
import { audioOperation } from "./routes/audio.ts";
import { audioNameOperations } from "./routes/audio-name.ts";
import { consoleOperations } from "./routes/console/operations.ts";
import { clientScriptOperations } from "./routes/docs/client-script.ts";
import { docsOperations, openApiOperation } from "./routes/docs/docs.ts";
import { galleryOperation } from "./routes/docs/gallery.ts";
import { rootOperation } from "./routes/docs/root.ts";
import { elevenLabs } from "./routes/elevenlabs/api.ts";
import { healthOperations } from "./routes/health.ts";
import { openAi } from "./routes/openai/api.ts";
import { reproduceOperations } from "./routes/reproduce/operations.ts";
import { sealKeyOperation } from "./routes/seal-key.ts";
import { synthesisOperations } from "./routes/synthesis/operations.ts";
import { ownUsageOperation } from "./routes/usage.ts";
import { voiceOperations } from "./routes/voices/operations.ts";
import { openStreamOperation } from "./websocket/operation.ts";

/** The APIs of other services that this service implements. */
export const compatibleApis = [openAi, elevenLabs] as const;

/** These functions create the operations, in the order of the OpenAPI document. */
const factories = [
  synthesisOperations,
  articleOperation,
  openStreamOperation,
  voiceOperations,
  ...compatibleApis.flatMap<CompatibleFactory>(({ operations }) => operations),
  accessOperations,
  ownUsageOperation,
  audioOperation,
  audioNameOperations,
  rootOperation,
  galleryOperation,
  healthOperations,
  sealKeyOperation,
  openApiOperation,
  clientScriptOperations,
  docsOperations,
  consoleOperations,
  reproduceOperations,
  sessionOperation,
  ...websiteOperations,
  ...credentialOperations,
  lexiconOperations,
  ...keyOperations,
  ...webhookOperations,
  keySpeechOperation,
  statusOperations,
  ...catalogOperations,
  ...voiceChoiceOperations,
  deleteAudioOperation,
  usageOverviewOperation,
  usageOperation,
  auditOperation,
  eventOperations,
  proofOperation,
  audioReportOperations,
] as const;

type CompatibleFactory = (typeof compatibleApis)[number]["operations"][number];

/** The options of all factories together. */
type FactoryOptions = (typeof factories)[number] extends (options: infer Options) => unknown
  ? Options
  : never;

/** The settings and application services of all operations. */
export type OperationOptions = Omit<FactoryOptions, "publicUrl" | "document"> & {
  readonly settings: Parameters<typeof createPublicUrl>[0];
};

/**
 * Creates every operation of the service. One of them sends the OpenAPI document, which describes
 * them all.
 */
export const createOperations = (given: OperationOptions): readonly Operation[] => {
  const { settings, names } = given;
  /** The document is made when it is first requested: most processes are never asked for it. */
  const document = lazy(async () => {
    const { describeApi } = await import("./openapi/document.ts");
    return taggedJson(
      describeApi({ operations, names, publicUrl: settings.publicUrl, apis: compatibleApis }),
    );
  });
  const options = { ...given, publicUrl: createPublicUrl(settings), document };
  const operations: readonly Operation[] = factories.flatMap((create) => create(options));
  return operations;
};
