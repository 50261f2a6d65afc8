import type { Logger } from "pino";
import type { Providers } from "../../application/accounts/list-provider-voices.ts";
import type { Check } from "../../application/health/health.ts";
import type { ProviderActivities } from "../../application/health/provider-activity.ts";
import type { Scheduler } from "../../async/scheduler/scheduler.ts";
import { type EngineCode, type FreeEngine, freeEngines } from "../../domain/synthesis/speech.ts";
import { azureProvider } from "../../engines/azure/provider.ts";
import type { Engine } from "../../engines/engine.ts";
import { googleProvider } from "../../engines/google/provider.ts";
import { openAiProvider } from "../../engines/openai/provider.ts";
import type { Provider } from "../../engines/provider.ts";
import { createExchange, type Exchange } from "../../engines/provider-http/exchange.ts";
import { createSsrfGuard } from "../../engines/provider-http/ssrf-guard.ts";
import {
  type DecorateExchange,
  type ResilienceOptions,
  withResilience,
} from "../../engines/resilience/with-resilience.ts";
import { combineEngines, selfHostedEngine } from "../../engines/self-hosted/engine.ts";
import type { SelfHostedServer } from "../../engines/self-hosted/server.ts";
import type { Settings } from "../../settings/read-settings.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import { openWebsitesExchange } from "../website-servers.ts";

/**
 * Composes the websites' own providers. No request is sent before a provider is used. `log` is
 * passed to `openWebsitesExchange`.
 */
export const composeProviders = (
  settings: Settings,
  telemetry: Telemetry,
  scheduler: Scheduler,
  { activities, log }: { activities?: ProviderActivities; log?: Logger } = {},
): Required<Providers> => {
  const { upstreams, upstreamNetworks, providerDeadlines: deadlines } = settings;
  const operators = telemetry.exchange(openExchange(settings));
  const websites = telemetry.exchange(openWebsitesExchange(upstreamNetworks, { deadlines, log }));
  const resilient = resilienceOf({
    limits: settings.providerLimits,
    scheduler,
    onEvent: (code, event, websiteId) => {
      telemetry.provider(code, event);
      activities?.record(code, event, websiteId);
    },
  });
  const azure = upstreams.azure === undefined ? {} : { url: upstreams.azure };
  return {
    gwn: resilient((decorate) => googleProvider({ exchange: decorate(operators), url: upstreams.google })),
    msv: resilient((decorate) => azureProvider({ exchange: decorate(operators), ...azure })),
    oai: resilient((decorate) =>
      openAiProvider({
        baseUrl: upstreams.openai,
        operators: decorate(operators),
        websites: decorate(websites),
      }),
    ),
  };
};

/**
 * Composes the free engines: the local ones, and the operator's self-hosted servers. A health check
 * reports open circuits.
 */
export const composeFreeEngines = (
  settings: Settings,
  local: readonly Engine[],
  telemetry: Telemetry,
  scheduler: Scheduler,
  activities?: ProviderActivities,
): { readonly engines: ReadonlyMap<EngineCode, Engine>; readonly checks: readonly Check[] } => {
  const exchange = telemetry.exchange(openExchange(settings));
  const openCircuits = new Set<EngineCode>();
  const resilient = resilienceOf({
    // All keys share these limits, unlike the limits of a website's own provider.
    limits: { ...settings.providerLimits, reserved: 1 },
    scheduler,
    onEvent: (code, event) => {
      telemetry.provider(code, event);
      activities?.record(code, event);
      if (event.what !== "circuit") return;
      if (event.state === "open") openCircuits.add(code);
      else openCircuits.delete(code);
    },
  });
  const engines = new Map(local.map((engine) => [engine.code, engine]));
  const checks: Check[] = [];
  for (const code of freeEngines) {
    const server = settings.selfHosted[code];
    if (!server) continue;
    const { engine } = resilient((decorate) => selfHosted(code, server, decorate(exchange))).open({});
    engines.set(code, combineEngines(engine, engines.get(code)));
    const probe = async (): Promise<void> => {
      if (openCircuits.has(code)) throw new Error("circuit open after repeated failures");
    };
    checks.push({ name: `engine ${code}`, critical: false, probe });
  }
  return { engines, checks };
};

/** Wraps a self-hosted server as a provider without credentials. */
const selfHosted = (
  code: FreeEngine,
  server: SelfHostedServer,
  exchange: Exchange,
): Provider<object, FreeEngine> => ({
  code,
  name: "self-hosted",
  open: () => ({ engine: selfHostedEngine(code, server, exchange), listVoices: async () => [] }),
});

const openExchange = ({ providerDeadlines: deadlines }: Settings): Exchange =>
  createExchange({ guard: createSsrfGuard({ by: "operator" }), deadlines });

const resilienceOf =
  (options: ResilienceOptions) =>
  <C, E extends EngineCode>(providerWith: (decorate: DecorateExchange) => Provider<C, E>): Provider<C, E> =>
    withResilience(providerWith, options);
