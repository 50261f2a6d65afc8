import type { Logger } from "pino";
import packageJson from "../../package.json" with { type: "json" };
import { trustedProxies } from "../http/kernel/client-address.ts";
import { type Settings, withSettingName } from "../settings.ts";
import type { RunningTelemetry } from "../telemetry/sdk.ts";
import { noTelemetry } from "../telemetry/telemetry.ts";

/** Starts what is to be told of the service; where that is nothing, not even loads it. @throws {BadSetting} */
export const startTelemetry = async (settings: Settings, log: Logger): Promise<RunningTelemetry> => {
  const { telemetry, host, trustProxy } = settings;
  if (!telemetry.traces && !telemetry.metrics && telemetry.metricsPort === undefined) return nothing;
  const { openTelemetry } = await import("../telemetry/sdk.ts");
  const isTrusted = trustedProxies(trustProxy);
  const options = { settings: telemetry, host, version: packageJson.version, log, isTrusted };
  return await withSettingName("METRICS_PORT", openTelemetry(options));
};

const nothing: RunningTelemetry = {
  telemetry: noTelemetry,
  metricsUrl: undefined,
  close: async () => {},
};
