import { taggedJson } from "./caching/tagged-json.ts";
import type { Operation } from "./kernel/operation.ts";
import { createPublicUrl } from "./kernel/public-url.ts";
import { describeApi } from "./openapi/document.ts";
import { accessOperations } from "./routes/access.ts";
import { catalogOperations } from "./routes/admin/catalog.ts";
import { credentialOperations } from "./routes/admin/credentials.ts";
import { keyOperations } from "./routes/admin/keys.ts";
import { auditOperation, usageOperation } from "./routes/admin/ledger.ts";
import { websiteOperations } from "./routes/admin/websites.ts";
import { audioOperation } from "./routes/audio.ts";
import { type ClientScript, clientScriptOperation } from "./routes/docs/client-script.ts";
import { docsOperations } from "./routes/docs/docs.ts";
import { openApiOperation } from "./routes/docs/openapi.ts";
import { rootOperation } from "./routes/docs/root.ts";
import { healthOperations } from "./routes/health.ts";
import { synthesisOperations } from "./routes/synthesis/operations.ts";
import { voiceOperations } from "./routes/voices/operations.ts";
import { openStreamOperation } from "./websocket/operation.ts";

type OptionsOf<Create extends (options: never) => unknown> = Parameters<Create>[0];

/** The settings and application services of all operations. */
export type OperationOptions = Omit<OptionsOf<typeof synthesisOperations>, "publicUrl"> &
  Omit<OptionsOf<typeof voiceOperations>, "publicUrl"> &
  OptionsOf<typeof accessOperations> &
  OptionsOf<typeof audioOperation> &
  OptionsOf<typeof healthOperations> &
  OptionsOf<typeof websiteOperations> &
  OptionsOf<typeof credentialOperations> &
  OptionsOf<typeof keyOperations> &
  OptionsOf<typeof catalogOperations> &
  OptionsOf<typeof usageOperation> &
  OptionsOf<typeof auditOperation> & {
    readonly settings: { readonly publicUrl: string | undefined; readonly trustProxy: readonly string[] };
    readonly clientScript: ClientScript;
  };

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
