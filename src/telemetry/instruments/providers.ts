import { byokEngines } from "../../domain/accounts/byok-providers.ts";
import type { EngineCode } from "../../domain/synthesis/speech.ts";
import type { ProviderEvent } from "../../engines/resilience/with-metrics.ts";
import { createTally } from "../counter.ts";
import type { Meters } from "../meters.ts";

/** Counts what the care of the providers' accounts tells. */
export const countProviders = (meters: Meters) => {
  const requests = meters.tally("upstreamRequests");
  const errors = meters.tally("upstreamErrors");
  const retries = meters.tally("upstreamRetries");
  const circuits = meters.tally("circuitChanges");
  // What begins with its first change shows Prometheus no increase, and rings no alarm.
  for (const engine of byokEngines) circuits.add(0, engine, "open");
  const waiting = createTally(["queue", "engine"]);
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
