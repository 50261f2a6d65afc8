import { azureSubscriptionKey, serveAzure } from "./azure.ts";
import { googleApiKey, serveGoogle } from "./google.ts";
import { openAiApiKey, serveOpenAi } from "./openai.ts";
import type { WireServer } from "./wire-server.ts";

/** All providers of premium voices on the loopback interface. */
export interface WireProviders {
  readonly gwn: WireServer;
  readonly msv: WireServer;
  readonly oai: WireServer;
  /** Settings for a service that uses them instead of the real providers. */
  readonly env: Record<string, string>;
  close(): Promise<void>;
}

/** Credentials that they accept. */
export const goodCredentials = {
  gwn: { apiKey: googleApiKey },
  msv: { subscriptionKey: azureSubscriptionKey, region: "westeurope" },
  oai: { apiKey: openAiApiKey },
} as const;

export const serveProviders = async (): Promise<WireProviders> => {
  const [gwn, msv, oai] = await Promise.all([serveGoogle(), serveAzure(), serveOpenAi()]);
  return {
    gwn,
    msv,
    oai,
    env: { GOOGLE_TTS_URL: gwn.url, AZURE_SPEECH_URL: msv.url, OPENAI_URL: oai.url },
    close: async () => {
      await Promise.all([gwn, msv, oai].map((server) => server.close()));
    },
  };
};
