import type { ByokEngine } from "../../../src/domain/accounts/byok-providers.ts";
import type { AudioFormat } from "../../../src/domain/synthesis/formats.ts";
import { engines, normalProsody } from "../../../src/domain/synthesis/speech.ts";
import { azureProvider } from "../../../src/engines/azure/azure.ts";
import type { SpeechRequest } from "../../../src/engines/engine.ts";
import { googleProvider } from "../../../src/engines/google/google.ts";
import { openAiProvider } from "../../../src/engines/openai/provider.ts";
import type { Provider, ProviderAccount } from "../../../src/engines/provider.ts";
import { createExchange, type Exchange } from "../../../src/engines/provider-http/exchange.ts";
import { createSsrfGuard } from "../../../src/engines/provider-http/ssrf-guard.ts";
import type { ProviderEvent } from "../../../src/engines/resilience/with-metrics.ts";
import { type DecorateExchange, withResilience } from "../../../src/engines/resilience/with-resilience.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { azureSubscriptionKey, serveAzure } from "../../support/wire/azure.ts";
import { googleApiKey, serveGoogle } from "../../support/wire/google.ts";
import { openAiApiKey, openAiVoices, serveOpenAi } from "../../support/wire/openai.ts";
import type { WireServer } from "../../support/wire/wire-server.ts";

/** A provider with all its care, as it is composed, over the loopback. */
export interface CaredProvider {
  readonly code: ByokEngine;
  readonly formats: readonly AudioFormat[];
  readonly voice: string;
  serve(): Promise<WireServer>;
  open(url: string, options?: CareWith): CaredAccount;
}

interface CareWith {
  readonly concurrency?: number;
  readonly perMinute?: number;
}

export interface CaredAccount extends ProviderAccount {
  /** The care's own; a retry's pause on it is over at once, however long. */
  readonly clock: ManualClock;
  /** The exchange's own, on which deadlines run. */
  readonly deadlines: ManualClock;
  /** How often it was told. */
  told(what: ProviderEvent["what"]): number;
  /** For a turn. */
  waiting(): number;
}

const guard = createSsrfGuard({ by: "operator" });

const cared = <C>(
  { concurrency = 8, perMinute = 100 }: CareWith,
  credentials: C,
  providerOver: (exchange: Exchange) => Provider<C>,
): CaredAccount => {
  const clock = createManualClock();
  const deadlines = createManualClock();
  const told: ProviderEvent[] = [];
  const exchange = createExchange({ guard, clock: deadlines });
  const provider = withResilience((careful: DecorateExchange) => providerOver(careful(exchange)), {
    limits: { concurrency, perMinute },
    clock,
    random: () => 0,
    onEvent: (_engine, event) => {
      told.push(event);
      if (event.what === "retried") setImmediate(() => clock.advance(1_000));
    },
  });
  const count = (what: ProviderEvent["what"]) => told.filter((event) => event.what === what).length;
  return {
    ...provider.open(credentials),
    clock,
    deadlines,
    told: count,
    waiting: () => count("waits") - count("waited"),
  };
};

const providers: readonly Omit<CaredProvider, "formats">[] = [
  {
    code: "gwn",
    voice: "en-US-Neural2-C",
    serve: () => serveGoogle(),
    open: (url, options = {}) =>
      cared(options, { apiKey: googleApiKey }, (exchange) => googleProvider({ exchange, url })),
  },
  {
    code: "msv",
    voice: "en-US-JennyNeural",
    serve: () => serveAzure(),
    open: (url, options = {}) => {
      const credentials = { subscriptionKey: azureSubscriptionKey, region: "westeurope" };
      return cared(options, credentials, (exchange) => azureProvider({ exchange, url }));
    },
  },
  {
    code: "oai",
    voice: "alloy",
    serve: () => serveOpenAi(),
    open: (url, options = {}) =>
      cared(options, { apiKey: openAiApiKey, voices: openAiVoices }, (exchange) =>
        openAiProvider({ baseUrl: url, operators: exchange, websites: exchange }),
      ),
  },
];

export const caredProviders: readonly CaredProvider[] = providers.map((provider) => ({
  ...provider,
  formats: engines[provider.code].formats,
}));

export const requestOf = (
  { voice }: Pick<CaredProvider, "voice">,
  changed: Partial<SpeechRequest> = {},
): SpeechRequest => ({
  text: "The quick brown fox jumps over the lazy dog.",
  ssml: false,
  voice,
  lang: "en-US",
  prosody: normalProsody,
  format: "mp3",
  ...changed,
});
