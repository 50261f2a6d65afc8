import type { CompatibleApi } from "../../kernel/compatible-api.ts";
import { openAiCatalogOperations } from "./catalog.ts";
import { openAiEnvelope } from "./errors.ts";
import { openAiSpeechOperation } from "./speech.ts";
import { openAiUsageOperation } from "./usage.ts";

/** OpenAI's audio and usage APIs. */
export const openAi = {
  segment: "openai",
  tag: {
    name: "OpenAI",
    description:
      "OpenAI's speech API, for its clients. Errors are `{error: {message, type, param, code}}`, as OpenAI sends them.",
  },
  errors: openAiEnvelope,
  clientHeaders: /^(x-stainless-[a-z-]{1,40}|openai-(organization|project|beta)|user-agent)$/,
  operations: [openAiSpeechOperation, openAiCatalogOperations, openAiUsageOperation],
} as const satisfies CompatibleApi & { readonly operations: readonly unknown[] };
