import { z } from "zod";
import { parse } from "../validation.ts";
import { type AudioFormat, v2Formats } from "./formats.ts";
import { firstVoiceIds } from "./voice-ids.ts";
import { voiceName } from "./voice-name.ts";

/**
 * The engines that run on a website's own credentials (BYOK). The table below is their list:
 * routes, OpenAPI, CLI, catalog ids and secrets follow from it. A provider's driver is attached in
 * src/bootstrap/speech/providers.ts. The fields of its credentials in the console are in
 * src/console/screens/websites/website-credentials.ts.
 */
interface ByokProvider {
  /** The `provider` that the API states for its voices. */
  readonly provider: string;
  readonly title: string;
  readonly formats: readonly AudioFormat[];
  readonly defaultFormat: AudioFormat;
  readonly credentials: z.ZodType<object>;
  /** Members of the credentials that no error message may repeat. */
  readonly secrets: readonly string[];
  /** Credentials for the API documentation. */
  readonly example: object;
  /**
   * Its voices have this catalog id and the following ones. A new provider gets a range in
   * `firstVoiceIds`.
   */
  readonly firstVoiceId: number;
}

const secretLine = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[\x21-\x7e]+$/, "must be visible ASCII");

const examplePlaceholder = "as-the-provider-gave-it";

/** Keeps the members of a service account's key file that signing in needs. */
const googleCredentials = z
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

const azureCredentials = z
  .strictObject({
    subscriptionKey: secretLine,
    /** Becomes a part of a host name. */
    region: z.string().regex(/^[a-z0-9]{2,40}$/, "must be an Azure region's name, e.g. westeurope"),
  })
  .meta({ id: "AzureCredentials" });

const openAiCredentials = z
  .strictObject({
    apiKey: secretLine,
    /** Default: `OPENAI_URL`. The SSRF guard checks where it leads. */
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .optional(),
    model: z.string().min(1).max(200).optional(),
    /** The server's voices, if they are not OpenAI's own. */
    voices: z.array(voiceName).min(1).max(500).optional(),
  })
  .meta({ id: "OpenAiCredentials" });

export const byokProviders = {
  gwn: {
    provider: "google",
    title: "Google Cloud Text-to-Speech",
    formats: ["mp3", "ogg"],
    defaultFormat: "mp3",
    credentials: googleCredentials,
    secrets: ["apiKey", "private_key", "private_key_id"],
    example: { apiKey: examplePlaceholder },
    firstVoiceId: firstVoiceIds.google,
  },
  msv: {
    provider: "azure",
    title: "Azure Speech",
    formats: v2Formats,
    defaultFormat: "mp3",
    credentials: azureCredentials,
    secrets: ["subscriptionKey"],
    example: { subscriptionKey: examplePlaceholder, region: "westeurope" },
    firstVoiceId: firstVoiceIds.azure,
  },
  oai: {
    provider: "openai",
    title: "an OpenAI-compatible server",
    formats: v2Formats,
    defaultFormat: "mp3",
    credentials: openAiCredentials,
    secrets: ["apiKey"],
    example: {
      apiKey: examplePlaceholder,
      baseUrl: "https://speech.example/v1",
      model: "a-model",
      voices: ["alloy"],
    },
    firstVoiceId: firstVoiceIds.openai,
  },
} as const satisfies Readonly<Record<string, ByokProvider>>;

/** The codes of these engines in the API. */
export type ByokEngine = keyof typeof byokProviders;
export const byokEngines = Object.keys(byokProviders) as ByokEngine[];
export const providerNames = byokEngines.map((engine) => byokProviders[engine].provider);
export const isByok = (code: string): code is ByokEngine => Object.hasOwn(byokProviders, code);

/** In this form, credentials are never part of an event, a response or a log. */
export type ProviderCredentials = {
  readonly [E in ByokEngine]: z.output<(typeof byokProviders)[E]["credentials"]>;
};

/** @throws {Invalid} */
export const parseCredentials = <E extends ByokEngine>(engine: E, given: unknown): ProviderCredentials[E] => {
  const schema: z.ZodType<ProviderCredentials[ByokEngine]> = byokProviders[engine].credentials;
  return parse(schema, given) as ProviderCredentials[E];
};
