import { z } from "zod";
import { voiceName } from "../catalog/voice-schema.ts";
import { type EngineCode, engines } from "../synthesis/speech.ts";
import { parse } from "../validation.ts";

/** What a website gives to have its own provider speak (never in an event or an answer as it stands here). */

const secretLine = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[\x21-\x7e]+$/, "must be visible ASCII");

/** gwn: Google Cloud Text-to-Speech. Of a service account's file, what signing in takes; the rest is not kept. */
export const googleCredentials = z
  .union([
    z.strictObject({ apiKey: secretLine }),
    z.strictObject({
      serviceAccount: z.object({
        client_email: z.email().max(320),
        private_key: z.string().min(1).max(16_384),
        private_key_id: z.string().max(200).optional(),
        project_id: z.string().max(200).optional(),
      }),
    }),
  ])
  .meta({ id: "GoogleCredentials" });
export type GoogleCredentials = z.output<typeof googleCredentials>;

/** msv: Azure Speech. The region becomes a part of a host's name. */
export const azureCredentials = z
  .strictObject({
    subscriptionKey: secretLine,
    region: z.string().regex(/^[a-z0-9]{2,40}$/, "must be an Azure region's name, e.g. westeurope"),
  })
  .meta({ id: "AzureCredentials" });
export type AzureCredentials = z.output<typeof azureCredentials>;

/** oai: an OpenAI-compatible server. */
export const openAiCredentials = z
  .strictObject({
    apiKey: secretLine,
    /** Without it `OPENAI_URL`. Where it may lead is the upstream guard's to say. */
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .optional(),
    model: z.string().min(1).max(200).optional(),
    /** Names of the voices that the server has, where they are not OpenAI's own. */
    voices: z.array(voiceName).min(1).max(500).optional(),
  })
  .meta({ id: "OpenAiCredentials" });
export type OpenAiCredentials = z.output<typeof openAiCredentials>;

export interface ProviderCredentials {
  readonly gwn: GoogleCredentials;
  readonly msv: AzureCredentials;
  readonly oai: OpenAiCredentials;
}

/** The engines that run on a website's own credentials. */
export const byokEngines = ["gwn", "msv", "oai"] as const;
export type ByokEngine = (typeof byokEngines)[number];
export const isByok = (code: EngineCode): code is ByokEngine => engines[code].byok;

export const providerCredentials: { readonly [E in ByokEngine]: z.ZodType<ProviderCredentials[E]> } = {
  gwn: googleCredentials,
  msv: azureCredentials,
  oai: openAiCredentials,
};

/** @throws {Invalid} */
export const parseCredentials = <E extends ByokEngine>(engine: E, given: unknown): ProviderCredentials[E] =>
  parse(providerCredentials[engine], given);
