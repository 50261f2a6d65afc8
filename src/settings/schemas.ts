import { isIP } from "node:net";
import { availableParallelism } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { z } from "zod";
import { BadS3Address, parseS3Address, type S3Address } from "../audio/store/s3-address.ts";
import { errorMessage } from "../domain/errors.ts";
import { engineCodes, type FreeEngine, freeEngines } from "../domain/synthesis/speech.ts";
import { parseSelfHosted, type SelfHostedServer } from "../engines/self-hosted/server.ts";

/* The types of settings. Messages never repeat the value: it may be a secret. */

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`);

const mostWorkers = 64;

export const workers = z
  .string()
  .regex(/^(auto|\d+)$/, "must be a whole number or auto")
  .transform((value) => (value === "auto" ? Math.min(availableParallelism(), mostWorkers) : Number(value)))
  .refine((value) => value >= 1 && value <= mostWorkers, `must be from 1 to ${mostWorkers}`);

/** A date, which begins at midnight UTC, or a time with its zone. */
export const utcTime = z
  .union(
    [z.iso.date(), z.iso.datetime({ offset: true })],
    "must be a date or a time such as 2026-12-31 or 2026-12-31T12:00:00Z",
  )
  .transform((value) => Date.parse(value));

export const flag = z.enum(["true", "false"], "must be true or false").default("false");

export const url = z.url({ protocol: /^https?$/, error: "must be an http or https URL" });

/**
 * The base of links. It has no credentials, which links would disclose, and no query or fragment,
 * which no path can follow.
 */
export const publicUrl = url
  .refine((value) => !/[?#]/.test(value), "must have no query and no fragment")
  .refine((value) => URL.parse(value)?.username === "", "must hold no credentials")
  .refine((value) => URL.parse(value)?.password === "", "must hold no credentials")
  .transform((value) => value.replace(/\/+$/, ""));

const list = z.string().transform((value) =>
  value
    .split(",")
    .map((item) => item.trim())
    .filter(Boolean),
);

const isNetwork = (network: string): boolean => {
  const [address = "", bits, rest] = network.split("/");
  const family = isIP(address);
  if (family === 0 || rest !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
};

export const networks = list.refine(
  (all) => all.every(isNetwork),
  "must be a comma-separated list of addresses or CIDRs",
);

export const masterKey = z
  .base64("must be 32 bytes in base64")
  .transform((value) => Buffer.from(value, "base64"))
  .refine((key) => key.length === 32, "must be 32 bytes in base64");

export const masterKeys = list
  .refine((keys) => keys.length <= 8, "must be at most 8 keys")
  .refine(
    (keys) => keys.every((key) => masterKey.safeParse(key).success),
    "must be a comma-separated list of keys of 32 bytes in base64",
  )
  .transform((keys) => keys.map((key) => masterKey.parse(key)));

/** An EventStoreDB connection string may hold credentials. */
export type EventStoreAddress =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "esdb"; readonly url: string };

/** True if instances on several machines, each with its own DATA_DIR, can share the event store. */
const sharedByMachines: Readonly<Record<EventStoreAddress["kind"], boolean>> = { sqlite: false, esdb: true };
export const isSharedByMachines = ({ kind }: Pick<EventStoreAddress, "kind">): boolean =>
  sharedByMachines[kind];

export const eventStore = z
  .string()
  .regex(/^(sqlite:|esdb:\/\/|esdb\+discover:\/\/)./, "must be sqlite:PATH, esdb://… or esdb+discover://…")
  .transform(
    (value): EventStoreAddress =>
      value.startsWith("sqlite:")
        ? { kind: "sqlite", path: value.slice("sqlite:".length) }
        : { kind: "esdb", url: value },
  );

const ntpPort = 123;
const maxTimeServers = 8;

/** Hosts, each with an optional port; the default is NTP's. IPv6 addresses are in brackets. */
export const timeServers = list
  .refine((all) => all.length <= maxTimeServers, `must be at most ${maxTimeServers} servers`)
  .refine(
    (all) => all.every((one) => URL.canParse(`ntp://${one}`)),
    "must be HOST or HOST:PORT, comma-separated",
  )
  .transform((all) =>
    all.map((one) => {
      const { hostname, port } = new URL(`ntp://${one}`);
      return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || ntpPort) };
    }),
  );

type AudioStoreAddress =
  | { readonly kind: "file"; readonly path: string }
  | ({ readonly kind: "s3" } & S3Address);

export const audioStore = z.string().transform((value, context): AudioStoreAddress => {
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

const units: Readonly<Record<string, number>> = {
  h: 60 * 60_000,
  d: 24 * 60 * 60_000,
  mb: 1024 ** 2,
  gb: 1024 ** 3,
  tb: 1024 ** 4,
};

/** `90d`, `50gb` or `90d,50gb`. */
export const retention = z
  .string()
  .toLowerCase()
  .regex(
    /^(?:[1-9]\d{0,5}[hd](?:,[1-9]\d{0,5}[mgt]b)?|[1-9]\d{0,5}[mgt]b)$/,
    "must be an age, a size or both, such as 90d, 50gb or 90d,50gb",
  )
  .transform((value) => {
    const amounts = value.split(",").map((part) => {
      const [, number = "", unit = ""] = /^(\d+)(\w+)$/.exec(part) ?? [];
      const amount = Number(number) * (units[unit] ?? 0);
      return unit.endsWith("b") ? { maxBytes: amount } : { maxAgeMs: amount };
    });
    return Object.assign({}, ...amounts) as { readonly maxAgeMs?: number; readonly maxBytes?: number };
  });

/** Base URLs, comma-separated. */
export const urls = list
  .refine((all) => all.every((value) => url.safeParse(value).success), "must be http or https URLs")
  .transform((all) => all.map((value) => value.replace(/\/+$/, "")));

/** A key and its secret. Neither contains a dot. */
export const wyomingKey = z
  .string()
  .regex(/^vlk_[^.]+\.vls_[^.]+$/, "must be a key and its secret, vlk_….vls_…")
  .transform((value) => {
    const [apiKey = "", apiSecret = ""] = value.split(".");
    return { apiKey, apiSecret };
  });

/** The protocol has no credentials: this key is charged for everything. */
export const checkWyomingKey = (
  {
    WYOMING_PORT: port,
    WYOMING_KEY: key,
  }: { readonly WYOMING_PORT?: number | undefined; readonly WYOMING_KEY?: object | undefined },
  context: z.RefinementCtx,
): void => {
  if (port === undefined || key !== undefined) return;
  context.addIssue({
    code: "custom",
    path: ["WYOMING_KEY"],
    message: "is required with WYOMING_PORT: the key and secret for which it speaks, vlk_….vls_…",
  });
};

/**
 * A server or models that an operator configured for a free engine. They are tried before the
 * engine's local tools.
 */
type EngineAddress =
  | { readonly kind: "openai"; readonly server: SelfHostedServer }
  | { readonly kind: "sherpa"; readonly paths: readonly string[] };

/** `openai:URL?…`: the operator's own server. */
export const engineServer = z.string().transform((value, context): EngineAddress => {
  try {
    return { kind: "openai", server: parseSelfHosted(value) };
  } catch (error) {
    context.addIssue(errorMessage(error));
    return z.NEVER;
  }
});

const modelScheme = "sherpa:";
const maxPacks = 100;

const modelPaths = z
  .string()
  .transform((value) => value.slice(modelScheme.length))
  .pipe(list)
  .refine((paths) => paths.length > 0 && paths.length <= maxPacks, `must name 1 to ${maxPacks} folders`)
  .refine((paths) => paths.every(isAbsolute), "must have absolute paths of folders, comma-separated")
  .refine((paths) => new Set(paths).size === paths.length, "must not repeat a folder")
  .transform((paths): EngineAddress => ({ kind: "sherpa", paths: paths.map((path) => resolve(path)) }));

/** An operator's own server, or `sherpa:PATH,PATH`: models on this machine. */
export const engine = z.string().transform((value, context): EngineAddress => {
  if (!value.startsWith("openai:") && !value.startsWith(modelScheme)) {
    context.addIssue("must be openai:URL or sherpa:PATH,PATH");
    return z.NEVER;
  }
  const { data, error } = (value.startsWith(modelScheme) ? modelPaths : engineServer).safeParse(value);
  if (data) return data;
  context.addIssue(error?.issues[0]?.message ?? "");
  return z.NEVER;
});

/** Splits the addresses of engines into servers and folders of models. */
export const splitEngines = (engines: Readonly<Record<FreeEngine, EngineAddress | undefined>>) => {
  const selfHosted: Partial<Record<FreeEngine, SelfHostedServer>> = {};
  const modelPaths: Partial<Record<FreeEngine, readonly string[]>> = {};
  for (const code of freeEngines) {
    const address = engines[code];
    if (address?.kind === "openai") selfHosted[code] = address.server;
    if (address?.kind === "sherpa") modelPaths[code] = address.paths;
  }
  return { selfHosted, modelPaths };
};

const mapName = z.string().min(1).max(200);
const mapEntry = /^([^=]+)=([^=]+)$/;

/** `NAME=VALUE,NAME=VALUE`. */
const mapTo = <S extends z.ZodType<unknown, string>>(value: S, form: string) =>
  list
    .refine((entries) => entries.every((entry) => mapEntry.test(entry)), `must be a list of ${form}`)
    .transform((entries) =>
      Object.fromEntries(entries.map((entry) => entry.split("=").map((part) => part.trim()))),
    )
    .pipe(z.record(mapName, value));

export const voiceMap = mapTo(mapName, "NAME=VOICE");

export const modelMap = mapTo(
  z.enum(["any", ...engineCodes], `must map models to any, ${engineCodes.join(", ")}`),
  "MODEL=ENGINE",
);
