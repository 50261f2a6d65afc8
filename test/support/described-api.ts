import { compatibleApis, createOperations, type OperationOptions } from "../../src/http/all-operations.ts";
import { headerNames } from "../../src/http/kernel/headers.ts";
import { describeApi, type OpenApiDocument } from "../../src/http/openapi/document.ts";
import { synthesizeRequest } from "../../src/http/routes/synthesis/request.ts";

/**
 * The OpenAPI document under the given settings. Describing the operations calls none of their
 * services.
 */
export const describedApi = ({
  prefix = "SVC",
  publicUrl,
  maxTextCharacters = 5_000,
}: {
  prefix?: string;
  publicUrl?: string;
  maxTextCharacters?: number;
} = {}): OpenApiDocument => {
  const names = headerNames(prefix);
  const settings = { publicUrl, trustProxy: [], maxTextCharacters, openAiVoices: {}, openAiModels: {} };
  const schema = synthesizeRequest(maxTextCharacters);
  const options = { settings, names, schema };
  const operations = createOperations(options as unknown as OperationOptions);
  return describeApi({ operations, names, publicUrl, apis: compatibleApis });
};
