import { join } from "node:path";
import { z } from "zod";
import { errorMessage } from "./domain/errors.ts";
import { isStreamPrefix } from "./eventstore/stream-prefix.ts";
import { adminTokens, checkRoles } from "./settings/admin-tokens.ts";
import { findMisspelled } from "./settings/misspelled.ts";
import * as schema from "./settings/schemas.ts";
import { checkEndpoints, readTelemetrySettings, telemetryVariables } from "./settings/telemetry.ts";

/** Every setting: its name, type, default and meaning. All are read from the environment once, and nowhere else. */
const environment = z.object({
  HOST: z.string().default("127.0.0.1").describe("Address to listen on"),
  PORT: schema.wholeNumber(0, 65_535).default(8080).describe("Port to listen on; 0 takes any free one"),
  PUBLIC_URL: schema.publicUrl.optional().describe("Base of links; default: the request's scheme and host"),
  DATA_DIR: z
    .string()
    .default("./data")
    .describe("Directory of the embedded stores, snapshots and master.key"),
  EVENT_STORE: schema.eventStore.optional().describe("Event store; default: events.db in DATA_DIR"),
  STREAM_PREFIX: z
    .string()
    .refine(isStreamPrefix, "must be at most 32 letters, digits, hyphens and underscores")
    .default("")
    .describe("Prefix of all stream names, for installations that share an event store; default: none"),
  TIME_SERVERS: schema.timeServers
    .default([])
    .describe(
      "NTP servers that confirm this machine's clock after it was set: HOST or HOST:PORT, comma-separated",
    ),
  AUDIO_STORE: schema.audioStore.optional().describe("Audio store; default: the directory audio in DATA_DIR"),
  AUDIO_RETENTION: schema.retention
    .optional()
    .describe("Age and size beyond which unused audio is removed, such as 90d,50gb; default: kept for ever"),
  AUDIO_SHARING: z
    .enum(["all", "none"], "must be all or none")
    .default("all")
    .describe("Whether websites share audio: with none, a website gets only audio that was made for it"),
  VOICE_GALLERY: z
    .enum(["on", "off"], "must be on or off")
    .default("on")
    .describe("Whether /voices plays a sample of every voice to everybody"),
  AUDIO_LEGACY_UNTIL: schema.utcTime
    .optional()
    .describe(
      "Time until which public audio of version 0.1 keeps its addresses; default: deleted at the start",
    ),
  PURGE_URL: schema.urls.default([]).describe("Caches that forget deleted audio (PURGE), comma-separated"),
  PURGE_TOKEN: z.string().min(1).max(256).optional().describe("Bearer token of PURGE"),
  ADMIN_TOKEN: adminTokens.default([]).describe("Bearer tokens of operators: TOKEN or NAME=TOKEN,…"),
  AUDITOR_TOKEN: adminTokens.default([]).describe("Bearer tokens of auditors: TOKEN or NAME=TOKEN,…"),
  MASTER_KEY: schema.masterKey.optional().describe("32 bytes; default: created once and kept in DATA_DIR"),
  MASTER_KEY_PREVIOUS: schema.masterKeys.default([]).describe("Former master keys, still valid for reading"),
  SEAL_KEY: schema.masterKey
    .optional()
    .describe("Ed25519 seed that signs seals; default: derived from the master key"),
  TOKEN_TTL_SECONDS: schema.wholeNumber(1, 86_400).default(900).describe("Lifetime of access tokens"),
  GOOGLE_TTS_URL: schema.url
    .default("https://texttospeech.googleapis.com")
    .describe("Base URL of Google Cloud Text-to-Speech"),
  AZURE_SPEECH_URL: schema.url.optional().describe("Base URL of Azure Speech; default: by region"),
  OPENAI_URL: schema.url.default("https://api.openai.com").describe("Base URL of OpenAI"),
  OPENAI_VOICE_MAP: schema.voiceMap
    .default({})
    .describe("Voices of OpenAI's API: NAME=VOICE, comma-separated; changes some of the default ones"),
  OPENAI_MODEL_MAP: schema.modelMap
    .default({})
    .describe("Engines of OpenAI's models: MODEL=ENGINE, comma-separated; any model is spoken by any engine"),
  ENGINE_G1: schema.engine.optional().describe("Self-hosted server or models for engine g1; may hold a key"),
  ENGINE_G2: schema.engine.optional().describe("Self-hosted server or models for engine g2; may hold a key"),
  ENGINE_G3: schema.engine.optional().describe("Self-hosted server or models for engine g3; may hold a key"),
  ENGINE_G5: schema.engineServer.optional().describe("Self-hosted server for engine g5; may hold a key"),
  NATURAL_VOICES_DIR: z
    .string()
    .optional()
    .describe("Folder of natural voices, or none; default: voices beside the program"),
  VOICES: z
    .enum(["natural", "classic"], "must be natural or classic")
    .default("natural")
    .describe("The voices with which a new installation begins"),
  MODELS_DIR: z.string().optional().describe("Folder of models for engine g1; default: none"),
  MODEL_THREADS: schema
    .wholeNumber(1, 64)
    .default(1)
    .describe("Threads of a model; part of its sounds' names"),
  MODEL_MEMORY_MB: schema
    .wholeNumber(64, 1_000_000)
    .default(2048)
    .describe("Memory limit of a model's process"),
  MODEL_IDLE_SECONDS: schema
    .wholeNumber(1, 2_147_483)
    .default(600)
    .describe("Time without use after which a model is unloaded"),
  MODELS_PRELOAD: schema.flag.describe("Load models at the start instead of at their first use"),
  ALLOW_LOOPBACK_UPSTREAMS: schema.flag.describe(
    "Allow websites' credentials and webhooks to name servers on this machine",
  ),
  ALLOW_UPSTREAM_NETWORKS: schema.networks
    .default([])
    .describe("Private networks (CIDR) whose servers websites' credentials and webhooks may name, by https"),
  PROVIDER_CONCURRENCY: schema.wholeNumber(1, 256).default(8).describe("Concurrent requests per account"),
  PROVIDER_REQUESTS_PER_MINUTE: schema
    .wholeNumber(1, 100_000)
    .default(300)
    .describe("Requests to a provider per account in any 60 seconds"),
  PROVIDER_CONNECT_MS: schema.wholeNumber(1, 600_000).default(5_000).describe("Provider connect timeout"),
  PROVIDER_FIRST_BYTE_MS: schema
    .wholeNumber(1, 600_000)
    .default(30_000)
    .describe("Maximum silence of a provider, before or within a response"),
  PROVIDER_TIMEOUT_MS: schema
    .wholeNumber(1, 3_600_000)
    .default(300_000)
    .describe("Provider timeout for the whole response"),
  HEADER_PREFIX: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,31}$/, "must be a header name's beginning")
    .default("SVC")
    .describe("First part of the service's own header names, as in SVC-Cached"),
  MAX_TEXT_CHARACTERS: schema.wholeNumber(1, 100_000).default(5000).describe("Longest text, in code points"),
  BURST_WINDOW_MS: schema
    .wholeNumber(20, 60_000)
    .default(1_000)
    .describe("Sliding window of the burst limit"),
  BURST_LIMIT: schema.wholeNumber(1, 1_000_000).optional().describe("Burst limit; default: by plan"),
  TRUST_PROXY: schema.networks.default([]).describe("Proxies (CIDR) whose X-Forwarded-For is trusted"),
  CDN_NETWORKS: schema.networks
    .default([])
    .describe("Addresses (CIDR) of a CDN that pulls audio, without a limit on audio in memory of their own"),
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info")
    .describe("Least severe level that is logged"),
  MEMORY_CACHE_BYTES: schema
    .wholeNumber(0, 64 * 1024 ** 3)
    .default(64 * 1024 * 1024)
    .describe("Size of the audio cache in memory"),
  STREAMS_PER_KEY: schema.wholeNumber(1, 1_000_000).default(1_000).describe("Open streams of one key"),
  UNREAD_AUDIO_BYTES: schema
    .wholeNumber(1, 64 * 1024 ** 3)
    .default(128 * 1024 * 1024)
    .describe("Audio of one key in memory that its clients have requested and not read yet"),
  SYNTHESIS_CONCURRENCY: schema.wholeNumber(1, 256).default(4).describe("Concurrent local syntheses"),
  DRAIN_SECONDS: schema.wholeNumber(0, 3_600).default(30).describe("Longest shutdown"),
  DRAIN_DELAY_SECONDS: schema
    .wholeNumber(0, 3_600)
    .default(0)
    .describe("Time between the first failing /health/ready and the end of listening"),
  WYOMING_HOST: z.string().default("127.0.0.1").describe("Address to listen on for the Wyoming protocol"),
  WYOMING_PORT: schema
    .wholeNumber(0, 65_535)
    .optional()
    .describe("Port of the Wyoming protocol (Home Assistant); default: not served"),
  WYOMING_KEY: schema.wyomingKey.optional().describe("Key and secret for which it speaks: KEY.SECRET"),
  METRICS_PORT: schema.wholeNumber(0, 65_535).optional().describe("Port of /metrics; default: not served"),
  ...telemetryVariables,
  WS_SOCKETS_PER_KEY: schema.wholeNumber(1, 1_000_000).default(1_000).describe("Open WebSockets per key"),
  WS_STREAMS_PER_SOCKET: schema.wholeNumber(1, 1_000).default(8).describe("Concurrent streams per WebSocket"),
  WS_IDLE_SECONDS: schema.wholeNumber(1, 86_400).default(60).describe("WebSocket idle timeout"),
  WS_STALL_SECONDS: schema
    .wholeNumber(1, 3_600)
    .default(120)
    .describe("WebSocket timeout of a stalled reader"),
});

/** The names of all settings. */
export const settingNames: readonly string[] = Object.keys(environment.shape);

export type Settings = Readonly<ReturnType<typeof toSettings>>;

/** A setting with an unusable value. The message is one line that names the setting, without its value. */
export class BadSetting extends Error {
  override readonly name = "BadSetting";
}

/** @throws {BadSetting} for the first unusable setting, or for a variable that resembles a setting */
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

/** Awaits what a setting describes. @throws {BadSetting} naming the setting, with the error in one line */
export const withSettingName = async <T>(name: string, opened: Promise<T>): Promise<T> => {
  try {
    return await opened;
  } catch (error) {
    throw new BadSetting(`${name}: ${errorMessage(error)}`, { cause: error });
  }
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
  /** Milliseconds since the epoch. */
  audioLegacyUntil: data.AUDIO_LEGACY_UNTIL ?? 0,
  /** Undefined: no cache is purged. */
  purge:
    data.PURGE_TOKEN === undefined || data.PURGE_URL.length === 0
      ? undefined
      : { urls: data.PURGE_URL, token: data.PURGE_TOKEN },
  adminTokens: data.ADMIN_TOKEN,
  auditorTokens: data.AUDITOR_TOKEN,
  masterKey: data.MASTER_KEY,
  previousMasterKeys: data.MASTER_KEY_PREVIOUS,
  sealKey: data.SEAL_KEY,
  tokenTtlSeconds: data.TOKEN_TTL_SECONDS,
  upstreams: { google: data.GOOGLE_TTS_URL, azure: data.AZURE_SPEECH_URL, openai: data.OPENAI_URL },
  /** Changes and additions to the default ones. */
  openAiVoices: data.OPENAI_VOICE_MAP,
  openAiModels: data.OPENAI_MODEL_MAP,
  ...schema.splitEngines({ g1: data.ENGINE_G1, g2: data.ENGINE_G2, g3: data.ENGINE_G3, g5: data.ENGINE_G5 }),
  models: toModelSettings(data),
  naturalVoices: {
    /** See `naturalVoicesFolder`. */
    folder: data.NATURAL_VOICES_DIR,
    /** What a new installation begins with. */
    choice: data.VOICES,
  },
  /** Where the servers of websites and webhooks may be, beside public networks. */
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
  burstWindowMs: data.BURST_WINDOW_MS,
  burstLimit: data.BURST_LIMIT,
  trustProxy: data.TRUST_PROXY,
  cdnNetworks: data.CDN_NETWORKS,
  logLevel: data.LOG_LEVEL,
  memoryCacheBytes: data.MEMORY_CACHE_BYTES,
  unreadAudio: { streamsPerKey: data.STREAMS_PER_KEY, bytesPerKey: data.UNREAD_AUDIO_BYTES },
  synthesisConcurrency: data.SYNTHESIS_CONCURRENCY,
  drainSeconds: data.DRAIN_SECONDS,
  drainDelaySeconds: data.DRAIN_DELAY_SECONDS,
  telemetry: readTelemetrySettings(data),
  /** Undefined: the Wyoming protocol is not served. */
  wyoming:
    data.WYOMING_PORT === undefined || data.WYOMING_KEY === undefined
      ? undefined
      : { host: data.WYOMING_HOST, port: data.WYOMING_PORT, key: data.WYOMING_KEY },
  sockets: {
    socketsPerKey: data.WS_SOCKETS_PER_KEY,
    streamsPerSocket: data.WS_STREAMS_PER_SOCKET,
    idleMs: data.WS_IDLE_SECONDS * 1_000,
    stallMs: data.WS_STALL_SECONDS * 1_000,
  },
});

const toModelSettings = (data: Environment) => ({
  folder: data.MODELS_DIR,
  preload: data.MODELS_PRELOAD === "true",
  limits: {
    threads: data.MODEL_THREADS,
    memoryBytes: data.MODEL_MEMORY_MB * 1024 ** 2,
    idleMs: data.MODEL_IDLE_SECONDS * 1_000,
  },
});

/** A misspelled setting would silently keep its default: another event store, another key. @throws {BadSetting} */
const refuseMisspelled = (env: NodeJS.ProcessEnv): void => {
  const misspelled = findMisspelled(env, settingNames);
  if (!misspelled) return;
  throw new BadSetting(`${misspelled.given}: there is no such setting; did you mean ${misspelled.meant}?`);
};
