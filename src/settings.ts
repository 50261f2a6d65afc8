import { isIP } from "node:net";
import { join } from "node:path";
import { z } from "zod";
import { reasonOf } from "./reason.ts";

/** Everything that can be set, read from the environment once, here and nowhere else. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  /** The address that links are made under; without it, the request's own. */
  readonly publicUrl: string | undefined;
  readonly dataDir: string;
  readonly eventStore: { readonly kind: "sqlite"; readonly path: string };
  readonly audioStore: { readonly kind: "file"; readonly path: string };
  /** Without it there is no admin API. */
  readonly adminToken: string | undefined;
  /** 32 bytes; when absent one is made and kept in the data directory. */
  readonly masterKey: Buffer | undefined;
  readonly tokenTtlSeconds: number;
  /** The base addresses of the paid upstreams. */
  readonly upstreams: {
    readonly google: string;
    readonly azure: string | undefined;
    readonly openai: string;
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
}

/** A setting that cannot be used. The message is one line and names it; it never repeats a secret value. */
export class BadSetting extends Error {
  override readonly name = "BadSetting";
}

/** What is opened as a setting says. @throws {BadSetting} naming the setting, with the reason in one line */
export const underSetting = async <T>(name: string, opened: Promise<T>): Promise<T> => {
  try {
    return await opened;
  } catch (error) {
    throw new BadSetting(`${name}: ${reasonOf(error)}`, { cause: error });
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

const environment = z.object({
  HOST: z.string().default("127.0.0.1"),
  PORT: number(0, 65_535).default(8080),
  PUBLIC_URL: publicUrl.optional(),
  DATA_DIR: z.string().default("./data"),
  EVENT_STORE: z
    .string()
    .regex(/^sqlite:.+/, "must be sqlite:PATH")
    .optional(),
  AUDIO_STORE: z
    .string()
    .regex(/^file:.+/, "must be file:PATH")
    .optional(),
  ADMIN_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,}$/, "must have at least 16 characters, all of them visible ASCII")
    .optional(),
  MASTER_KEY: z
    .base64("must be 32 bytes in base64")
    .transform((value) => Buffer.from(value, "base64"))
    .refine((key) => key.length === 32, "must be 32 bytes in base64")
    .optional(),
  TOKEN_TTL_SECONDS: number(1, 86_400).default(900),
  GOOGLE_TTS_URL: url.default("https://texttospeech.googleapis.com"),
  /** Absent: the address that belongs to the credentials' region. */
  AZURE_SPEECH_URL: url.optional(),
  OPENAI_URL: url.default("https://api.openai.com"),
  HEADER_PREFIX: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,31}$/, "must be a header name's beginning")
    .default("SVC"),
  MAX_TEXT_CHARACTERS: number(1, 100_000).default(4000),
  BURST_WINDOW_MS: number(20, 60_000).default(1_000),
  BURST_LIMIT: number(1, 1_000_000).optional(),
  TRUST_PROXY: list
    .refine((networks) => networks.every(cidr), "must be a comma-separated list of addresses or CIDRs")
    .default([]),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  MEMORY_CACHE_BYTES: number(0, 64 * 1024 ** 3).default(256 * 1024 * 1024),
  SYNTHESIS_CONCURRENCY: number(1, 256).default(4),
  DRAIN_SECONDS: number(0, 3_600).default(30),
});

/** @throws {BadSetting} naming the first setting that cannot be used */
export const readSettings = (env: NodeJS.ProcessEnv = process.env): Settings => {
  // An empty variable is one that is not set: that is how compose files and shells leave them out.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const { success, data, error } = environment.safeParse(given);
  if (!success) {
    const issue = error.issues[0];
    throw new BadSetting(`${issue?.path.join(".")}: ${issue?.message}`);
  }
  return {
    host: data.HOST,
    port: data.PORT,
    publicUrl: data.PUBLIC_URL,
    dataDir: data.DATA_DIR,
    eventStore: {
      kind: "sqlite",
      path: data.EVENT_STORE?.slice("sqlite:".length) ?? join(data.DATA_DIR, "events.db"),
    },
    audioStore: {
      kind: "file",
      path: data.AUDIO_STORE?.slice("file:".length) ?? join(data.DATA_DIR, "audio"),
    },
    adminToken: data.ADMIN_TOKEN,
    masterKey: data.MASTER_KEY,
    tokenTtlSeconds: data.TOKEN_TTL_SECONDS,
    upstreams: { google: data.GOOGLE_TTS_URL, azure: data.AZURE_SPEECH_URL, openai: data.OPENAI_URL },
    headerPrefix: data.HEADER_PREFIX,
    maxTextCharacters: data.MAX_TEXT_CHARACTERS,
    burstWindowMs: data.BURST_WINDOW_MS,
    burstLimit: data.BURST_LIMIT,
    trustProxy: data.TRUST_PROXY,
    logLevel: data.LOG_LEVEL,
    memoryCacheBytes: data.MEMORY_CACHE_BYTES,
    synthesisConcurrency: data.SYNTHESIS_CONCURRENCY,
    drainSeconds: data.DRAIN_SECONDS,
  };
};
