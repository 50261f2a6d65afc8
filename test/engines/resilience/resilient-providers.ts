import { createScheduler } from "../../../src/async/scheduler/scheduler.ts";
import type { ByokEngine } from "../../../src/domain/synthesis/byok-providers.ts";
import type { AudioFormat } from "../../../src/domain/synthesis/formats.ts";
import { engines, normalProsody } from "../../../src/domain/synthesis/speech.ts";
import { azureProvider } from "../../../src/engines/azure/provider.ts";
import type { SpeechRequest } from "../../../src/engines/engine.ts";
import { googleProvider } from "../../../src/engines/google/provider.ts";
import { openAiProvider } from "../../../src/engines/openai/provider.ts";
import type { Provider, ProviderClient } from "../../../src/engines/provider.ts";
import { createExchange, type Exchange } from "../../../src/engines/provider-http/exchange.ts";
import { createSsrfGuard } from "../../../src/engines/provider-http/ssrf-guard.ts";
import type { ProviderEvent } from "../../../src/engines/resilience/with-event-reports.ts";
import { type DecorateExchange, withResilience } from "../../../src/engines/resilience/with-resilience.ts";
import { createManualTime, type ManualTime } from "../../support/manual-time.ts";
import { azureSubscriptionKey, serveAzure } from "../../support/wire/azure.ts";
import { googleApiKey, serveGoogle } from "../../support/wire/google.ts";
import { openAiApiKey, openAiVoices, serveOpenAi } from "../../support/wire/openai.ts";
import type { WireServer } from "../../support/wire/wire-server.ts";

/** A provider with all resilience decorators, composed as in production, over loopback. */
export interface ResilientProvider {
  readonly code: ByokEngine;
  readonly formats: readonly AudioFormat[];
  readonly voice: string;
  serve(): Promise<WireServer>;
  open(url: string, options?: Limits): ResilientAccount;
}

interface Limits {
  readonly concurrency?: number;
  readonly perMinute?: number;
}

export interface ResilientAccount extends ProviderClient {
  /** The clock of the decorators, on which retry pauses end at once. */
  readonly time: ManualTime;
  /** The clock of the exchange's deadlines. */
  readonly deadlines: ManualTime;
  /** The number of events of this kind. */
  count(what: ProviderEvent["what"]): number;
  /** The number of requests waiting for a slot. */
  waiting(): number;
}

const guard = createSsrfGuard({ by: "operator" });

const resilientAccount = <C>(
  { concurrency = 8, perMinute = 100 }: Limits,
  credentials: C,
  providerOver: (exchange: Exchange) => Provider<C>,
): ResilientAccount => {
  const time = createManualTime();
  const deadlines = createManualTime();
  const events: ProviderEvent[] = [];
  const scheduler = createScheduler({ time });
  const exchange = createExchange({ guard, time: deadlines });
  const provider = withResilience((decorate: DecorateExchange) => providerOver(decorate(exchange)), {
    limits: { concurrency, perMinute },
    scheduler,
    time,
    random: () => 0,
    onEvent: (_engine, event) => {
      events.push(event);
      if (event.what === "retried") setImmediate(() => time.advance(1_000));
    },
  });
  const count = (what: ProviderEvent["what"]) => events.filter((event) => event.what === what).length;
  return {
    ...provider.open(credentials),
    time,
    deadlines,
    count,
    waiting: () => scheduler.stats().reduce((all, { queued }) => all + queued, 0),
  };
};

const providers: readonly Omit<ResilientProvider, "formats">[] = [
  {
    code: "gwn",
    voice: "en-US-Neural2-C",
    serve: () => serveGoogle(),
    open: (url, options = {}) =>
      resilientAccount(options, { apiKey: googleApiKey }, (exchange) => googleProvider({ exchange, url })),
  },
  {
    code: "msv",
    voice: "en-US-JennyNeural",
    serve: () => serveAzure(),
    open: (url, options = {}) => {
      const credentials = { subscriptionKey: azureSubscriptionKey, region: "westeurope" };
      return resilientAccount(options, credentials, (exchange) => azureProvider({ exchange, url }));
    },
  },
  {
    code: "oai",
    voice: "alloy",
    serve: () => serveOpenAi(),
    open: (url, options = {}) =>
      resilientAccount(options, { apiKey: openAiApiKey, voices: openAiVoices }, (exchange) =>
        openAiProvider({ baseUrl: url, operators: exchange, websites: exchange }),
      ),
  },
];

export const resilientProviders: readonly ResilientProvider[] = providers.map((provider) => ({
  ...provider,
  formats: engines[provider.code].formats,
}));

export const requestOf = (
  { voice }: Pick<ResilientProvider, "voice">,
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
