import type { Providers } from "../application/accounts/providers.ts";
import type { Check } from "../application/health/health.ts";
import { type EngineCode, type FreeEngine, freeEngines } from "../domain/synthesis/speech.ts";
import { azureProvider } from "../engines/azure/azure.ts";
import type { Engine } from "../engines/engine.ts";
import { googleProvider } from "../engines/google/google.ts";
import { openAiProvider } from "../engines/openai/provider.ts";
import type { Provider } from "../engines/provider.ts";
import { createExchange, type Exchange } from "../engines/provider-http/exchange.ts";
import { createSsrfGuard, type Trust } from "../engines/provider-http/ssrf-guard.ts";
import {
  type DecorateExchange,
  type ResilienceOptions,
  withResilience,
} from "../engines/resilience/with-resilience.ts";
import { combineEngines, selfHostedEngine } from "../engines/self-hosted/engine.ts";
import type { SelfHostedServer } from "../engines/self-hosted/server.ts";
import type { Settings } from "../settings.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";

/** Those that speak on a website's own credentials, each asked with care. Asks nobody anything by itself. */
export const composeProviders = (settings: Settings, telemetry: Telemetry): Required<Providers> => {
  const { upstreams, allowLoopbackUpstreams: allowLoopback } = settings;
  const operators = telemetry.exchange(exchangeFor(settings, { by: "operator" }));
  const websites = telemetry.exchange(exchangeFor(settings, { by: "website", allowLoopback }));
  const cared = careOf(settings, telemetry.provider);
  const azure = upstreams.azure === undefined ? {} : { url: upstreams.azure };
  return {
    gwn: cared((careful) => googleProvider({ exchange: careful(operators), url: upstreams.google })),
    msv: cared((careful) => azureProvider({ exchange: careful(operators), ...azure })),
    oai: cared((careful) =>
      openAiProvider({
        baseUrl: upstreams.openai,
        operators: careful(operators),
        websites: careful(websites),
      }),
    ),
  };
};

/** The operator's own servers, each asked with the same care, beside the local engine of the same code. */
export const besideSelfHosted = (
  settings: Settings,
  local: ReadonlyMap<EngineCode, Engine>,
  telemetry: Telemetry,
): { readonly engines: ReadonlyMap<EngineCode, Engine>; readonly checks: readonly Check[] } => {
  const exchange = telemetry.exchange(exchangeFor(settings, { by: "operator" }));
  const leftAlone = new Set<EngineCode>();
  const cared = careOf(settings, (code, told) => {
    telemetry.provider(code, told);
    if (told.what !== "circuit") return;
    if (told.state === "open") leftAlone.add(code);
    else leftAlone.delete(code);
  });
  const engines = new Map(local);
  const checks: Check[] = [];
  for (const code of freeEngines) {
    const server = settings.selfHosted[code];
    if (!server) continue;
    const { engine } = cared((careful) => selfHosted(code, server, careful(exchange))).open({});
    engines.set(code, combineEngines(engine, local.get(code)));
    checks.push({
      name: `engine ${code}`,
      critical: false,
      probe: async () => mustAnswer(leftAlone.has(code)),
    });
  }
  return { engines, checks };
};

/** An operator's server as a provider with one account, which needs no proof. */
const selfHosted = (
  code: FreeEngine,
  server: SelfHostedServer,
  exchange: Exchange,
): Provider<object, FreeEngine> => ({
  code,
  name: "self-hosted",
  open: () => ({ engine: selfHostedEngine(code, server, exchange), listVoices: async () => [] }),
});

const exchangeFor = ({ providerDeadlines: deadlines }: Settings, trust: Trust): Exchange =>
  createExchange({ guard: createSsrfGuard(trust), deadlines });

/** As its last requests found it: nobody asks it only to see. */
const mustAnswer = (isLeftAlone: boolean): void => {
  if (isLeftAlone) throw new Error("it failed again and again and is left alone for now");
};

const careOf =
  ({ providerLimits: limits }: Settings, onEvent: NonNullable<ResilienceOptions["onEvent"]>) =>
  <C, E extends EngineCode>(providerWith: (careful: DecorateExchange) => Provider<C, E>): Provider<C, E> =>
    withResilience(providerWith, { limits, onEvent });
