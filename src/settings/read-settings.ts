import { join } from "node:path";
import type { z } from "zod";
import { errorMessage } from "../domain/errors.ts";
import type { EpochMs } from "../domain/time.ts";
import { checkRoles } from "./admin-tokens.ts";
import { findMisspelled } from "./misspelled.ts";
import * as schema from "./schemas.ts";
import { environment, limitVariables } from "./settings.ts";
import { checkEndpoints, readTelemetrySettings } from "./telemetry.ts";

/** The names of all settings. All are read from the environment once, and nowhere else. */
export const settingNames: readonly string[] = Object.keys(environment.shape);

export type Settings = Readonly<ReturnType<typeof toSettings>>;

/**
 * A setting with an unusable value. The message is one line that names the setting, without its
 * value.
 */
export class BadSetting extends Error {
  override readonly name = "BadSetting";
}

/**
 * @throws {BadSetting} for the first unusable setting, or for a variable that resembles a setting
 */
export const readSettings = (env: NodeJS.ProcessEnv = process.env): Settings => {
  refuseMisspelled(env);
  // Compose files and shells pass an unset variable as an empty one.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const { success, data, error } = environment
    .superRefine(checkEndpoints)
    .superRefine(checkRoles)
    .superRefine(schema.checkWyomingKey)
    .safeParse(given);
  if (success) return toSettings(data);
  const issue = error.issues[0];
  throw new BadSetting(`${issue?.path.join(".")}: ${issue?.message}`);
};

/**
 * Awaits the opening of a part of the service that a setting describes. If it fails, the error
 * names the setting.
 * @throws {BadSetting} with the name of the setting and the error, in one line
 */
export const withSettingName = async <T>(name: string, opened: Promise<T>): Promise<T> => {
  try {
    return await opened;
  } catch (error) {
    if (error instanceof BadSetting) throw error; // it names the setting that is the cause
    throw new BadSetting(`${name}: ${errorMessage(error)}`, { cause: error });
  }
};

/**
 * Returns a handler for a server's failure to listen. Its error names the setting that is the
 * cause.
 */
export const nameListenSetting =
  (port: string, host: string) =>
  (error: NodeJS.ErrnoException): Promise<never> => {
    const isPortError = error.code === "EADDRINUSE" || error.code === "EACCES";
    return withSettingName(isPortError ? port : host, Promise.reject(error));
  };

type Environment = z.output<typeof environment>;

const toSettings = (data: Environment) => ({
  host: data.HOST,
  port: data.PORT,
  publicUrl: data.PUBLIC_URL,
  dataDir: data.DATA_DIR,
  eventStore: data.EVENT_STORE ?? ({ kind: "sqlite", path: join(data.DATA_DIR, "events.db") } as const),
  streamPrefix: data.STREAM_PREFIX,
  timeServers: data.TIME_SERVERS,
  audioStore: data.AUDIO_STORE ?? ({ kind: "file", path: join(data.DATA_DIR, "audio") } as const),
  audioRetention: data.AUDIO_RETENTION,
  sharesAudio: data.AUDIO_SHARING === "all",
  hasVoiceGallery: data.VOICE_GALLERY === "on",
  audioLegacyUntil: (data.AUDIO_LEGACY_UNTIL ?? 0) satisfies EpochMs,
  /** If undefined, no cache is purged. */
  purge:
    data.PURGE_TOKEN === undefined || data.PURGE_URL.length === 0
      ? undefined
      : { urls: data.PURGE_URL, token: data.PURGE_TOKEN },
  adminTokens: data.ADMIN_TOKEN,
  auditorTokens: data.AUDITOR_TOKEN,
  masterKey: data.MASTER_KEY,
  previousMasterKeys: data.MASTER_KEY_PREVIOUS,
  sealKey: data.SEAL_KEY,
  previousSealKeys: data.SEAL_KEY_PREVIOUS,
  tokenTtlSeconds: data.TOKEN_TTL_SECONDS,
  upstreams: { google: data.GOOGLE_TTS_URL, azure: data.AZURE_SPEECH_URL, openai: data.OPENAI_URL },
  /** The operator's changes and additions to the default names. */
  openAiVoices: data.OPENAI_VOICE_MAP,
  openAiModels: data.OPENAI_MODEL_MAP,
  ...schema.splitEngines({ g1: data.ENGINE_G1, g2: data.ENGINE_G2, g3: data.ENGINE_G3, g5: data.ENGINE_G5 }),
  models: toModelSettings(data),
  naturalVoices: {
    /** See `naturalVoicesFolder`. */
    folder: data.NATURAL_VOICES_DIR,
    /** A new installation begins with this choice. */
    choice: data.VOICES,
  },
  /** Servers of websites and webhooks may be in these networks, besides public ones. */
  upstreamNetworks: {
    allowLoopback: data.ALLOW_LOOPBACK_UPSTREAMS === "true",
    networks: data.ALLOW_UPSTREAM_NETWORKS,
  },
  providerLimits: { concurrency: data.PROVIDER_CONCURRENCY, perMinute: data.PROVIDER_REQUESTS_PER_MINUTE },
  providerDeadlines: {
    connectMs: data.PROVIDER_CONNECT_MS,
    firstByteMs: data.PROVIDER_FIRST_BYTE_MS,
    totalMs: data.PROVIDER_TIMEOUT_MS,
  },
  headerPrefix: data.HEADER_PREFIX,
  maxTextCharacters: data.MAX_TEXT_CHARACTERS,
  limits: limitsOf(data),
  trustProxy: data.TRUST_PROXY,
  cdnNetworks: data.CDN_NETWORKS,
  logLevel: data.LOG_LEVEL,
  memoryCacheBytes: data.MEMORY_CACHE_BYTES,
  synthesisConcurrency: data.SYNTHESIS_CONCURRENCY,
  workers: data.WORKERS,
  drainSeconds: data.DRAIN_SECONDS,
  drainDelaySeconds: data.DRAIN_DELAY_SECONDS,
  telemetry: readTelemetrySettings(data),
  /** If undefined, the Wyoming protocol is not served. */
  wyoming:
    data.WYOMING_PORT === undefined || data.WYOMING_KEY === undefined
      ? undefined
      : { host: data.WYOMING_HOST, port: data.WYOMING_PORT, key: data.WYOMING_KEY },
  sockets: {
    streamsPerSocket: data.WS_STREAMS_PER_SOCKET,
    idleMs: data.WS_IDLE_SECONDS * 1_000,
    stallMs: data.WS_STALL_SECONDS * 1_000,
  },
});

/** The limits by the names of their settings, because the table of limits refers to them. */
const limitsOf = (data: Environment): LimitVariables => {
  const entries = Object.entries(data).filter(([name]) => Object.hasOwn(limitVariables, name));
  return Object.fromEntries(entries) as unknown as LimitVariables;
};

type LimitVariables = Pick<Environment, keyof typeof limitVariables>;

const toModelSettings = (data: Environment) => ({
  folder: data.MODELS_DIR,
  preload: data.MODELS_PRELOAD === "true",
  limits: {
    threads: data.MODEL_THREADS,
    memoryBytes: data.MODEL_MEMORY_MB * 1024 ** 2,
    idleMs: data.MODEL_IDLE_SECONDS * 1_000,
  },
});

/**
 * A misspelled setting would silently keep its default, such as another event store or another key.
 * @throws {BadSetting}
 */
const refuseMisspelled = (env: NodeJS.ProcessEnv): void => {
  const misspelled = findMisspelled(env, settingNames);
  if (!misspelled) return;
  throw new BadSetting(`${misspelled.given}: there is no such setting; did you mean ${misspelled.meant}?`);
};
