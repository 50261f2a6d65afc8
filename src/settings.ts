import { isIP } from "node:net";
import { join } from "node:path";
import { z } from "zod";
import { BadS3Address, parseS3Address, type S3Address } from "./audio/store/s3-address.ts";
import { errorMessage } from "./bootstrap/error-message.ts";
import { findMisspelled } from "./bootstrap/misspelled-settings.ts";
import type { TelemetrySettings } from "./bootstrap/telemetry-settings.ts";
import { checkEndpoints, readTelemetrySettings, telemetryVariables } from "./bootstrap/telemetry-settings.ts";
import { parseSelfHosted, type SelfHostedServers } from "./engines/self-hosted/server.ts";

/** Everything that can be set, read from the environment once, here and nowhere else. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  /** The address that links are made under; without it, the request's own. */
  readonly publicUrl: string | undefined;
  readonly dataDir: string;
  readonly eventStore:
    | { readonly kind: "sqlite"; readonly path: string }
    /** A connection string: it may hold credentials. */
    | { readonly kind: "esdb"; readonly url: string };
  readonly audioStore:
    | { readonly kind: "file"; readonly path: string }
    | ({ readonly kind: "s3" } & S3Address);
  /** Without it there is no admin API. */
  readonly adminToken: string | undefined;
  /** 32 bytes; when absent one is made and kept in the data directory. */
  readonly masterKey: Buffer | undefined;
  /** What `masterKey` was before, 32 bytes each: still good for reading. */
  readonly previousMasterKeys: readonly Buffer[];
  readonly tokenTtlSeconds: number;
  /** The base addresses of the paid upstreams. */
  readonly upstreams: {
    readonly google: string;
    readonly azure: string | undefined;
    readonly openai: string;
  };
  /** The operator's own speech servers, by the engine that each of them is. They may hold keys. */
  readonly selfHosted: SelfHostedServers;
  /** Whether websites' credentials may lead to servers on this machine. */
  readonly allowLoopbackUpstreams: boolean;
  /** Of what is asked of a provider on one set of credentials. */
  readonly providerLimits: {
    /** At once. */
    readonly concurrency: number;
    /** Begun in any sixty seconds. */
    readonly perMinute: number;
  };
  /** Of one request to a provider, in milliseconds (engines/upstream/messages.ts). */
  readonly providerDeadlines: {
    readonly connectMs: number;
    readonly firstByteMs: number;
    readonly totalMs: number;
  };
  /** `SVC` in `SVC-Cached`. */
  readonly headerPrefix: string;
  readonly maxTextCharacters: number;
  readonly burstWindowMs: number;
  readonly burstLimit: number | undefined;
  /** Networks (CIDR) whose `X-Forwarded-For` is believed. */
  readonly trustProxy: readonly string[];
  readonly logLevel: string;
  /** Audio kept in memory. */
  readonly memoryCacheBytes: number;
  /** Syntheses that run at once. */
  readonly synthesisConcurrency: number;
  /** How long a drain may take before the process ends all the same. */
  readonly drainSeconds: number;
  /** How long connections are still taken after the end was asked for, while `/health/ready` says that it comes. */
  readonly drainDelaySeconds: number;
  readonly telemetry: TelemetrySettings;
  readonly sockets: {
    /** WebSockets that a key may have open at once, in this process. */
    readonly socketsPerKey: number;
    /** Syntheses under way at once on one of them. */
    readonly streamsPerSocket: number;
    /** How long one may be open for nothing. */
    readonly idleMs: number;
    /** How long its reader may take nothing of what waits for it. */
    readonly stallMs: number;
  };
}

/** A setting that cannot be used. The message is one line and names it; it never repeats a secret value. */
export class BadSetting extends Error {
  override readonly name = "BadSetting";
}

/** What is opened as a setting says. @throws {BadSetting} naming the setting, with the reason in one line */
export const withSettingName = async <T>(name: string, opened: Promise<T>): Promise<T> => {
  try {
    return await opened;
  } catch (error) {
    throw new BadSetting(`${name}: ${errorMessage(error)}`, { cause: error });
  }
};

const number = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d+$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be from ${least} to ${most}`);

const url = z.url({ protocol: /^https?$/, error: "must be an http or https URL" });

/** What links are made under: credentials would be given away, and a path cannot follow a query or a fragment. */
const publicUrl = url
  .refine((value) => !/[?#]/.test(value), "must have no query and no fragment")
  .refine((value) => URL.parse(value)?.username === "", "must hold no credentials")
  .refine((value) => URL.parse(value)?.password === "", "must hold no credentials")
  .transform((value) => value.replace(/\/+$/, ""));

const cidr = (network: string): boolean => {
  const [address = "", bits, rest] = network.split("/");
  const family = isIP(address);
  if (family === 0 || rest !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
};

const list = z.string().transform((value) =>
  value
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean),
);

const masterKey = z
  .base64("must be 32 bytes in base64")
  .transform((value) => Buffer.from(value, "base64"))
  .refine((key) => key.length === 32, "must be 32 bytes in base64");

const audioStore = z.string().transform((value, context): Settings["audioStore"] => {
  try {
    if (/^file:./.test(value)) return { kind: "file", path: value.slice("file:".length) };
    if (value.startsWith("s3:")) return { kind: "s3", ...parseS3Address(value) };
  } catch (error) {
    if (!(error instanceof BadS3Address)) throw error;
    context.addIssue(error.message);
    return z.NEVER;
  }
  context.addIssue("must be file:PATH or s3://ACCESS:SECRET@HOST:PORT/BUCKET");
  return z.NEVER;
});

const eventStore = (value: string): Settings["eventStore"] =>
  value.startsWith("sqlite:")
    ? { kind: "sqlite", path: value.slice("sqlite:".length) }
    : { kind: "esdb", url: value };

/** `parseSelfHosted` repeats nothing of the value, in which there may be a key. */
const selfHosted = z.string().transform((value, context) => {
  try {
    return parseSelfHosted(value);
  } catch (error) {
    context.addIssue({ code: "custom", message: errorMessage(error) });
    return z.NEVER;
  }
});

const environment = z.object({
  HOST: z.string().default("127.0.0.1"),
  PORT: number(0, 65_535).default(8080),
  PUBLIC_URL: publicUrl.optional(),
  DATA_DIR: z.string().default("./data"),
  EVENT_STORE: z
    .string()
    .regex(/^(sqlite:|esdb:\/\/|esdb\+discover:\/\/)./, "must be sqlite:PATH, esdb://… or esdb+discover://…")
    .transform(eventStore)
    .optional(),
  AUDIO_STORE: audioStore.optional(),
  ADMIN_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,}$/, "must have at least 16 characters, all of them visible ASCII")
    .optional(),
  MASTER_KEY: masterKey.optional(),
  MASTER_KEY_PREVIOUS: list
    .refine((keys) => keys.length <= 8, "must be at most 8 keys")
    .refine(
      (keys) => keys.every((key) => masterKey.safeParse(key).success),
      "must be a comma-separated list of keys of 32 bytes in base64",
    )
    .transform((keys) => keys.map((key) => masterKey.parse(key)))
    .default([]),
  TOKEN_TTL_SECONDS: number(1, 86_400).default(900),
  GOOGLE_TTS_URL: url.default("https://texttospeech.googleapis.com"),
  /** Absent: the address that belongs to the credentials' region. */
  AZURE_SPEECH_URL: url.optional(),
  OPENAI_URL: url.default("https://api.openai.com"),
  ENGINE_G1: selfHosted.optional(),
  ENGINE_G2: selfHosted.optional(),
  ENGINE_G3: selfHosted.optional(),
  ENGINE_G5: selfHosted.optional(),
  ALLOW_LOOPBACK_UPSTREAMS: z.enum(["true", "false"], "must be true or false").default("false"),
  PROVIDER_CONCURRENCY: number(1, 256).default(8),
  PROVIDER_REQUESTS_PER_MINUTE: number(1, 100_000).default(300),
  PROVIDER_CONNECT_MS: number(1, 600_000).default(5_000),
  PROVIDER_FIRST_BYTE_MS: number(1, 600_000).default(30_000),
  PROVIDER_TIMEOUT_MS: number(1, 3_600_000).default(300_000),
  HEADER_PREFIX: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,31}$/, "must be a header name's beginning")
    .default("SVC"),
  MAX_TEXT_CHARACTERS: number(1, 100_000).default(5000),
  BURST_WINDOW_MS: number(20, 60_000).default(1_000),
  BURST_LIMIT: number(1, 1_000_000).optional(),
  TRUST_PROXY: list
    .refine((networks) => networks.every(cidr), "must be a comma-separated list of addresses or CIDRs")
    .default([]),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  MEMORY_CACHE_BYTES: number(0, 64 * 1024 ** 3).default(256 * 1024 * 1024),
  SYNTHESIS_CONCURRENCY: number(1, 256).default(4),
  DRAIN_SECONDS: number(0, 3_600).default(30),
  DRAIN_DELAY_SECONDS: number(0, 3_600).default(0),
  METRICS_PORT: number(0, 65_535).optional(),
  ...telemetryVariables,
  WS_SOCKETS_PER_KEY: number(1, 1_000_000).default(1_000),
  WS_STREAMS_PER_SOCKET: number(1, 1_000).default(8),
  WS_IDLE_SECONDS: number(1, 86_400).default(60),
  WS_STALL_SECONDS: number(1, 3_600).default(120),
});

/** The names of all settings. */
export const settingNames: readonly string[] = Object.keys(environment.shape);

/** @throws {BadSetting} naming the first setting that cannot be used, or a variable that is probably meant to be one */
export const readSettings = (env: NodeJS.ProcessEnv = process.env): Settings => {
  refuseMisspelled(env);
  // An empty variable is one that is not set: that is how compose files and shells leave them out.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const { success, data, error } = environment.superRefine(checkEndpoints).safeParse(given);
  if (!success) {
    const issue = error.issues[0];
    throw new BadSetting(`${issue?.path.join(".")}: ${issue?.message}`);
  }
  return {
    host: data.HOST,
    port: data.PORT,
    publicUrl: data.PUBLIC_URL,
    dataDir: data.DATA_DIR,
    eventStore: data.EVENT_STORE ?? { kind: "sqlite", path: join(data.DATA_DIR, "events.db") },
    audioStore: data.AUDIO_STORE ?? { kind: "file", path: join(data.DATA_DIR, "audio") },
    adminToken: data.ADMIN_TOKEN,
    masterKey: data.MASTER_KEY,
    previousMasterKeys: data.MASTER_KEY_PREVIOUS,
    tokenTtlSeconds: data.TOKEN_TTL_SECONDS,
    upstreams: { google: data.GOOGLE_TTS_URL, azure: data.AZURE_SPEECH_URL, openai: data.OPENAI_URL },
    selfHosted: {
      ...(data.ENGINE_G1 && { g1: data.ENGINE_G1 }),
      ...(data.ENGINE_G2 && { g2: data.ENGINE_G2 }),
      ...(data.ENGINE_G3 && { g3: data.ENGINE_G3 }),
      ...(data.ENGINE_G5 && { g5: data.ENGINE_G5 }),
    },
    allowLoopbackUpstreams: data.ALLOW_LOOPBACK_UPSTREAMS === "true",
    providerLimits: {
      concurrency: data.PROVIDER_CONCURRENCY,
      perMinute: data.PROVIDER_REQUESTS_PER_MINUTE,
    },
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
    logLevel: data.LOG_LEVEL,
    memoryCacheBytes: data.MEMORY_CACHE_BYTES,
    synthesisConcurrency: data.SYNTHESIS_CONCURRENCY,
    drainSeconds: data.DRAIN_SECONDS,
    drainDelaySeconds: data.DRAIN_DELAY_SECONDS,
    telemetry: readTelemetrySettings(data),
    sockets: {
      socketsPerKey: data.WS_SOCKETS_PER_KEY,
      streamsPerSocket: data.WS_STREAMS_PER_SOCKET,
      idleMs: data.WS_IDLE_SECONDS * 1_000,
      stallMs: data.WS_STALL_SECONDS * 1_000,
    },
  };
};

/** A misspelled setting would silently mean its default: another log, another key. @throws {BadSetting} */
const refuseMisspelled = (env: NodeJS.ProcessEnv): void => {
  const misspelled = findMisspelled(env, settingNames);
  if (!misspelled) return;
  throw new BadSetting(`${misspelled.given}: there is no such setting; did you mean ${misspelled.meant}?`);
};
