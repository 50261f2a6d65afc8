import { byokEngines } from "../../domain/accounts/byok-providers.ts";
import type { EngineCode } from "../../domain/synthesis/speech.ts";
import type { ProviderEvent } from "../../engines/resilience/with-metrics.ts";
import { createCounter } from "../counter.ts";
import type { Instruments } from "../meters.ts";

/** Counts what the care of the providers' accounts tells. */
export const countProviders = (meters: Instruments) => {
  const requests = meters.counter("upstreamRequests");
  const errors = meters.counter("upstreamErrors");
  const retries = meters.counter("upstreamRetries");
  const circuits = meters.counter("circuitChanges");
  // What begins with its first change shows Prometheus no increase, and rings no alarm.
  for (const engine of byokEngines) circuits.add(0, engine, "open");
  const waiting = createCounter(["queue", "engine"]);
  meters.gauge("queue", (observe) => {
    for (const [count, attributes] of waiting.entries()) observe(count, attributes);
  });

  return (engine: EngineCode, told: ProviderEvent): void => {
    if (told.what === "waits") waiting.add(1, "providers", engine);
    else if (told.what === "waited") waiting.add(-1, "providers", engine);
    else if (told.what === "asked") requests.add(1, engine);
    else if (told.what === "retried") retries.add(1, engine);
    else if (told.what === "refused") errors.add(1, engine, String(told.status));
    else if (told.what === "failed") errors.add(1, engine, told.stage);
    else if (told.what === "circuit") circuits.add(1, engine, told.state);
  };
};
