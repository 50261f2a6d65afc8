import { taggedJson } from "./caching/tagged-content.ts";
import type { Operation } from "./kernel/operation.ts";
import { createPublicUrl } from "./kernel/public-url.ts";
import { describeApi } from "./openapi/document.ts";
import { accessOperations } from "./routes/access.ts";
import { deleteAudioOperation } from "./routes/admin/audio.ts";
import { catalogOperations } from "./routes/admin/catalog.ts";
import { credentialOperations } from "./routes/admin/credentials.ts";
import { keyOperations } from "./routes/admin/keys.ts";
import { eventOperations } from "./routes/admin/ledger/events.ts";
import { proofOperation } from "./routes/admin/ledger/proof.ts";
import { auditOperation, usageOperation } from "./routes/admin/ledger/usage-and-audit.ts";
import { usageOverviewOperation } from "./routes/admin/ledger/usage-overview.ts";
import { lexiconOperations } from "./routes/admin/lexicons.ts";
import { sessionOperation } from "./routes/admin/session.ts";
import { soundOperations } from "./routes/admin/sounds.ts";
import { keySpeechOperation } from "./routes/admin/speech.ts";
import { statusOperations } from "./routes/admin/status.ts";
import { webhookOperations } from "./routes/admin/webhooks.ts";
import { websiteOperations } from "./routes/admin/websites.ts";
import { audioOperation } from "./routes/audio.ts";
import { consoleOperations } from "./routes/console/operations.ts";
import { clientScriptOperations } from "./routes/docs/client-script.ts";
import { docsOperations } from "./routes/docs/docs.ts";
import { openApiOperation } from "./routes/docs/openapi.ts";
import { rootOperation } from "./routes/docs/root.ts";
import { elevenLabsOperations } from "./routes/elevenlabs/operations.ts";
import { healthOperations } from "./routes/health.ts";
import { openAiCatalogOperations } from "./routes/openai/catalog.ts";
import { openAiSpeechOperation } from "./routes/openai/speech.ts";
import { openAiUsageOperation } from "./routes/openai/usage.ts";
import { sealKeyOperation } from "./routes/seal-key.ts";
import { synthesisOperations } from "./routes/synthesis/operations.ts";
import { ownUsageOperation } from "./routes/usage.ts";
import { voiceOperations } from "./routes/voices/operations.ts";
import { openStreamOperation } from "./websocket/operation.ts";

type OptionsOf<Create extends (options: never) => unknown> = Parameters<Create>[0];

/** The settings and application services of all operations. */
export type OperationOptions = Omit<OptionsOf<typeof synthesisOperations>, "publicUrl"> &
  Omit<OptionsOf<typeof voiceOperations>, "publicUrl"> &
  OptionsOf<typeof accessOperations> &
  OptionsOf<typeof elevenLabsOperations> &
  OptionsOf<typeof audioOperation> &
  OptionsOf<typeof healthOperations> &
  OptionsOf<typeof websiteOperations> &
  OptionsOf<typeof credentialOperations> &
  OptionsOf<typeof lexiconOperations> &
  OptionsOf<typeof keyOperations> &
  OptionsOf<typeof webhookOperations> &
  OptionsOf<typeof keySpeechOperation> &
  OptionsOf<typeof statusOperations> &
  OptionsOf<typeof catalogOperations> &
  OptionsOf<typeof deleteAudioOperation> &
  OptionsOf<typeof usageOverviewOperation> &
  OptionsOf<typeof usageOperation> &
  OptionsOf<typeof auditOperation> &
  OptionsOf<typeof eventOperations> &
  OptionsOf<typeof proofOperation> &
  OptionsOf<typeof soundOperations> &
  OptionsOf<typeof openAiUsageOperation> &
  OptionsOf<typeof sealKeyOperation> &
  OptionsOf<typeof openAiSpeechOperation> &
  OptionsOf<typeof openAiCatalogOperations> &
  Omit<OptionsOf<typeof ownUsageOperation>, "publicUrl"> & {
    readonly settings: { readonly publicUrl: string | undefined; readonly trustProxy: readonly string[] };
  };

/** Every operation of the service; the OpenAPI document that describes them is one of them. */
export const createOperations = (options: OperationOptions): readonly Operation[] => {
  const { settings, names } = options;
  const { publicUrl } = settings;
  const operations: readonly Operation[] = [
    ...synthesisOperations({ ...options, publicUrl }),
    openStreamOperation(),
    ...voiceOperations({ ...options, publicUrl: createPublicUrl(settings) }),
    openAiSpeechOperation(options),
    ...openAiCatalogOperations(options),
    ...accessOperations(options),
    ownUsageOperation({ ...options, publicUrl: createPublicUrl(settings) }),
    openAiUsageOperation(options),
    ...elevenLabsOperations(options),
    audioOperation(options),
    rootOperation(settings),
    ...healthOperations(options),
    sealKeyOperation(options),
    openApiOperation(() => document),
    ...clientScriptOperations(),
    ...docsOperations(settings),
    ...consoleOperations(),
    sessionOperation(),
    ...websiteOperations(options),
    ...credentialOperations(options),
    ...lexiconOperations(options),
    ...keyOperations(options),
    ...webhookOperations(options),
    keySpeechOperation(options),
    ...statusOperations(options),
    ...catalogOperations(options),
    deleteAudioOperation(options),
    usageOverviewOperation(options),
    usageOperation(options),
    auditOperation(options),
    ...eventOperations(options),
    proofOperation(options),
    ...soundOperations(options),
  ];
  const document = taggedJson(describeApi({ operations, names, publicUrl }));
  return operations;
};
