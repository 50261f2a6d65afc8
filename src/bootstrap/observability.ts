import pino, { type Logger } from "pino";
import packageJson from "../../package.json" with { type: "json" };
import { trustedProxies } from "../http/kernel/client-address.ts";
import { type Settings, withSettingName } from "../settings.ts";
import type { RunningTelemetry } from "../telemetry/sdk.ts";
import { noTelemetry } from "../telemetry/telemetry.ts";

/** JSON lines on standard output. Texts and credentials of requests are never logged. */
export const createLogger = (level: string): Logger =>
  pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });

/** Starts telemetry, or returns the disabled one without loading the SDK. @throws {BadSetting} */
export const startTelemetry = async (settings: Settings, log: Logger): Promise<RunningTelemetry> => {
  const { telemetry, host, trustProxy } = settings;
  if (!telemetry.traces && !telemetry.metrics && telemetry.metricsPort === undefined) return disabled;
  const { openTelemetry } = await import("../telemetry/sdk.ts");
  const isTrusted = trustedProxies(trustProxy);
  const options = { settings: telemetry, host, version: packageJson.version, log, isTrusted };
  return await withSettingName("METRICS_PORT", openTelemetry(options));
};

const disabled: RunningTelemetry = {
  telemetry: noTelemetry,
  metricsUrl: undefined,
  close: async () => {},
};
