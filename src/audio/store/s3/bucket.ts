import type { Readable } from "node:stream";
import type { Client } from "minio";
import { formatOf, formats } from "../../../domain/synthesis/formats.ts";
import type { ObjectName } from "../audio-store.ts";
import { s3Code } from "./failure.ts";

/** What is done in a bucket; it fails with what the client throws. */
export interface S3Bucket {
  /** Undefined when there is none, or one that cannot have been put here. */
  read(name: ObjectName): Promise<Buffer | undefined>;
  /** Adds it, unless there is one already. */
  add(name: ObjectName, bytes: Buffer): Promise<void>;
  /** Writes something and takes it away again. */
  probe(): Promise<void>;
}

/** What is larger is not ours. */
const largestObject = 64 * 1024 * 1024;

/** The bucket through this client. It is made when something is to be written and it is missing. */
export const s3Bucket = (client: Client, bucket: string, region: string): S3Bucket => {
  const inBucket = async (write: () => Promise<void>): Promise<void> => {
    try {
      await write();
    } catch (error) {
      if (s3Code(error) !== "NoSuchBucket") throw error;
      await unless(["BucketAlreadyOwnedByYou", "BucketAlreadyExists"], () =>
        client.makeBucket(bucket, region),
      );
      await write();
    }
  };

  const addOnce = async (name: ObjectName, bytes: Buffer): Promise<void> => {
    const headers = { ...headersOf(name), "If-None-Match": "*" };
    try {
      await unless(["PreconditionFailed"], () =>
        client.putObject(bucket, name, bytes, bytes.length, headers),
      );
    } catch (error) {
      // A server that refuses before it has read everything (versitygw) may hang up before its refusal is heard.
      if (!["ECONNRESET", "EPIPE"].includes(s3Code(error)) || !(await isThere(name))) throw error;
    }
  };

  const isThere = async (name: ObjectName): Promise<boolean> =>
    (await unless(["NotFound"], () => client.statObject(bucket, name))) !== undefined;

  return {
    read: (name) =>
      unless(["NoSuchKey", "NoSuchBucket"], async () => wholeOf(await client.getObject(bucket, name))),
    add: (name, bytes) => inBucket(() => addOnce(name, bytes)),
    probe: () =>
      inBucket(async () => {
        await client.putObject(bucket, "ping", Buffer.from("ping"), 4, { "Cache-Control": "no-store" });
        await client.removeObject(bucket, "ping").catch(() => undefined); // one that stays is written again
      }),
  };
};

/** What a CDN that pulls from the bucket passes on. What is private is for this service alone, whoever asks. */
const headersOf = (name: ObjectName): Record<string, string> => ({
  "Content-Type": formats[formatOf(name)].mimeType,
  "Cache-Control": name.startsWith("audio/") ? "public, max-age=31536000, immutable" : "private, no-store",
});

/** Undefined for nothing at all, and for too much: to read no further ends the connection. */
const wholeOf = async (body: Readable): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > largestObject) return undefined;
  }
  return size === 0 ? undefined : Buffer.concat(chunks, size);
};

/** Undefined when it fails in one of these ways. */
const unless = async <T>(codes: readonly string[], run: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await run();
  } catch (error) {
    if (codes.includes(s3Code(error))) return undefined;
    throw error;
  }
};
