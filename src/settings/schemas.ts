import { isIP } from "node:net";
import { z } from "zod";
import { BadS3Address, parseS3Address, type S3Address } from "../audio/store/s3-address.ts";
import { errorMessage } from "../domain/errors.ts";
import { parseSelfHosted } from "../engines/self-hosted/server.ts";

/* The types of settings. Messages never repeat the value: it may be a secret. */

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`);

export const flag = z.enum(["true", "false"], "must be true or false").default("false");

export const url = z.url({ protocol: /^https?$/, error: "must be an http or https URL" });

/** The base of links. Links would disclose credentials, and no path can follow a query or fragment. */
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

export const eventStore = z
  .string()
  .regex(/^(sqlite:|esdb:\/\/|esdb\+discover:\/\/)./, "must be sqlite:PATH, esdb://… or esdb+discover://…")
  .transform(
    (value): EventStoreAddress =>
      value.startsWith("sqlite:")
        ? { kind: "sqlite", path: value.slice("sqlite:".length) }
        : { kind: "esdb", url: value },
  );

export type AudioStoreAddress =
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

export const selfHostedServer = z.string().transform((value, context) => {
  try {
    return parseSelfHosted(value);
  } catch (error) {
    context.addIssue(errorMessage(error));
    return z.NEVER;
  }
});
