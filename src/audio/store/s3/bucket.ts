import type { Readable } from "node:stream";
import type { Client } from "minio";
import { formatOf, formats } from "../../../domain/synthesis/formats.ts";
import type { ObjectName } from "../audio-store.ts";
import { s3Code } from "./failure.ts";

/** Operations on a bucket; they throw the client's errors. */
export interface S3Bucket {
  /** Undefined if there is none, or one that this service cannot have stored. */
  read(name: ObjectName): Promise<Buffer | undefined>;
  /** Stores the object unless it exists. */
  add(name: ObjectName, bytes: Buffer): Promise<void>;
  /** Writes an object and removes it. */
  probe(): Promise<void>;
}

const maxObjectBytes = 64 * 1024 * 1024;

/** Creates the bucket on the first write if it is missing. */
export const s3Bucket = (client: Client, bucket: string, region: string): S3Bucket => {
  const inBucket = async (write: () => Promise<void>): Promise<void> => {
    try {
      await write();
    } catch (error) {
      if (s3Code(error) !== "NoSuchBucket") throw error;
      await ignoring(["BucketAlreadyOwnedByYou", "BucketAlreadyExists"], () =>
        client.makeBucket(bucket, region),
      );
      await write();
    }
  };

  const addOnce = async (name: ObjectName, bytes: Buffer): Promise<void> => {
    const headers = { ...headersOf(name), "If-None-Match": "*" };
    try {
      await ignoring(["PreconditionFailed"], () =>
        client.putObject(bucket, name, bytes, bytes.length, headers),
      );
    } catch (error) {
      // versitygw may close the connection before the client has read its refusal.
      if (!["ECONNRESET", "EPIPE"].includes(s3Code(error)) || !(await exists(name))) throw error;
    }
  };

  const exists = async (name: ObjectName): Promise<boolean> =>
    (await ignoring(["NotFound"], () => client.statObject(bucket, name))) !== undefined;

  return {
    read: (name) =>
      ignoring(["NoSuchKey", "NoSuchBucket"], async () => readBody(await client.getObject(bucket, name))),
    add: (name, bytes) => inBucket(() => addOnce(name, bytes)),
    probe: () =>
      inBucket(async () => {
        await client.putObject(bucket, "ping", Buffer.from("ping"), 4, { "Cache-Control": "no-store" });
        await client.removeObject(bucket, "ping").catch(() => undefined); // one that stays is written again
      }),
  };
};

/** A CDN may cache public objects; private ones are read by this service only. */
const headersOf = (name: ObjectName): Record<string, string> => ({
  "Content-Type": formats[formatOf(name)].mimeType,
  "Cache-Control": name.startsWith("audio/") ? "public, max-age=31536000, immutable" : "private, no-store",
});

/** Undefined for an empty body and for one that is too large, which ends the connection. */
const readBody = async (body: Readable): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxObjectBytes) return undefined;
  }
  return size === 0 ? undefined : Buffer.concat(chunks, size);
};

/** Undefined if it fails with one of these codes. */
const ignoring = async <T>(codes: readonly string[], run: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await run();
  } catch (error) {
    if (codes.includes(s3Code(error))) return undefined;
    throw error;
  }
};
