import pino, { type DestinationStream, type Logger } from "pino";
import sonicBoom from "sonic-boom";
import packageJson from "../../package.json" with { type: "json" };
import { ServiceError } from "../domain/errors.ts";
import { EventStoreLost } from "../eventstore/event-store.ts";
import { trustedProxies } from "../http/kernel/client-address.ts";
import { type Settings, withSettingName } from "../settings/read-settings.ts";
import { ToolFailed } from "../subprocess/tools.ts";
import type { RunningTelemetry } from "../telemetry/sdk.ts";
import { noTelemetry } from "../telemetry/telemetry.ts";

/** Writes JSON lines to standard output. Texts and credentials of requests are never logged. */
export const createLogger = (
  level: string,
  output: DestinationStream = standardOutput(),
  base: { readonly worker: number } | null = null,
): Logger =>
  pino(
    {
      level,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => loggedError(error, deepestCause) },
    },
    output,
  );

/**
 * Returns a function that logs the errors of background work. A lost log fails all of it, and is
 * reported once: the process ends with that line.
 */
export const createErrorLog =
  (log: { warn(fields: object, message: string): void }) =>
  (what: string, error: unknown): void => {
    if (!isOfLostLog(error, deepestCause)) log.warn({ err: error }, what);
  };

const isOfLostLog = (error: unknown, causes: number): boolean =>
  error instanceof EventStoreLost ||
  (error instanceof Error && causes > 0 && isOfLostLog(error.cause, causes - 1));

/** Lines that no reader takes are kept up to this size. Later ones are dropped, and counted. */
const maxWaitingBytes = 16 * 1024 ** 2;
/** At the exit a full pipe is retried for two seconds: every 100 ms. */
const retriesAtExit = 20;

/**
 * Writes to standard output, without waiting for its reader. Stops writing once its pipe or its
 * terminal is gone. All logs of a process share it: each would add a listener for the exit, and
 * keep waiting lines of its own. It uses sonic-boom itself, because pino brings version 4, which
 * repeats a failed write for ever when the process exits.
 */
const openStandardOutput = (): DestinationStream => {
  let retriesLeft = Number.POSITIVE_INFINITY;
  let isGone = false;
  let dropped = 0;
  const retryEAGAIN = (): boolean => {
    retriesLeft -= 1;
    return retriesLeft >= 0;
  };
  const output = new sonicBoom.SonicBoom({ fd: 1, maxLength: maxWaitingBytes, retryEAGAIN });
  output.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
    isGone = true;
  });
  output.on("drop", () => {
    dropped += 1;
  });
  output.on("drain", () => {
    if (dropped === 0) return;
    const line = {
      level: "warn",
      time: new Date().toISOString(),
      dropped,
      msg: "lines of the log were dropped",
    };
    dropped = 0;
    output.write(`${JSON.stringify(line)}\n`);
  });
  process.on("exit", () => {
    retriesLeft = retriesAtExit;
    try {
      if (!isGone) output.flushSync();
    } catch {
      // The log has no reader any more.
    }
  });
  return { write: (line) => void (isGone || output.write(line)) };
};

let shared: DestinationStream | undefined;
const standardOutput = (): DestinationStream => {
  shared ??= openStandardOutput();
  return shared;
};

const deepestCause = 5;

/**
 * Returns the members of an error that may be logged, without words of providers or characters of
 * texts. It omits all other members, because Node adds the input to some errors.
 */
const loggedError = (error: unknown, causes: number): unknown => {
  if (!(error instanceof Error)) return String(error);
  const { name, message, stack = "", cause } = error;
  return {
    type: name,
    message: error instanceof ServiceError ? error.loggable : message,
    code: "code" in error && typeof error.code === "string" ? error.code : undefined,
    ...(error instanceof ToolFailed && error.end),
    stack: stack.match(/^ +at .*$/gm)?.join("\n"), // without the message
    cause: cause === undefined || causes === 0 ? undefined : loggedError(cause, causes - 1),
  };
};

/**
 * Starts telemetry, or returns the disabled one without loading the SDK.
 * @throws {BadSetting}
 */
export const startTelemetry = async (
  settings: Settings,
  log: Logger,
  { listens = true } = {},
): Promise<RunningTelemetry> => {
  const { telemetry, host, trustProxy } = settings;
  if (!telemetry.traces && !telemetry.metrics && telemetry.metricsPort === undefined) return disabled;
  const { openTelemetry } = await import("../telemetry/sdk.ts");
  const isTrusted = trustedProxies(trustProxy);
  const options = { settings: telemetry, host, version: packageJson.version, log, isTrusted, listens };
  return await withSettingName("METRICS_PORT", openTelemetry(options));
};

const disabled: RunningTelemetry = {
  telemetry: noTelemetry,
  metricsUrl: undefined,
  collect: async () => "",
  close: async () => {},
};
