import type { IncomingMessage } from "node:http";
import { type Client, CopyDestinationOptions, CopySourceOptions } from "minio";
import { type AudioObject, DamagedObject, type ObjectName, type StoredObject } from "../audio-store.ts";
import { s3Code } from "./failure.ts";
import { headersOf, metadataOf, ownMetadata, readResponse } from "./object-metadata.ts";

interface ListedObject {
  readonly name: ObjectName;
  readonly bytes: number;
  readonly usedAt: number;
}

const uncached = { "Cache-Control": "no-store" };

export type S3Bucket = ReturnType<typeof s3Bucket>;

/**
 * Operations on a bucket; they throw the client's errors.
 * Creates the bucket on the first write if it is missing.
 */
export const s3Bucket = (client: Client, bucket: string, region: string) => {
  const inBucket = async <T>(write: () => Promise<T>): Promise<T> => {
    try {
      return await write();
    } catch (error) {
      if (s3Code(error) !== "NoSuchBucket") throw error;
      await ignoring(["BucketAlreadyOwnedByYou", "BucketAlreadyExists"], () =>
        client.makeBucket(bucket, region),
      );
      return await write();
    }
  };

  /** Undefined if there is none. @throws {DamagedObject} */
  const read = (name: ObjectName): Promise<StoredObject | undefined> =>
    ignoring(["NoSuchKey", "NoSuchBucket"], async () =>
      readResponse((await client.getObject(bucket, name)) as IncomingMessage),
    );

  const isDamaged = (name: ObjectName): Promise<boolean> =>
    read(name).then(
      () => false,
      (error: unknown) => {
        if (error instanceof DamagedObject) return true;
        throw error;
      },
    );

  const exists = async (name: string): Promise<boolean> =>
    (await ignoring(["NotFound"], () => client.statObject(bucket, name))) !== undefined;

  /** False if it existed. */
  const create = async (name: string, bytes: Buffer, headers: Record<string, string>): Promise<boolean> => {
    try {
      await client.putObject(bucket, name, bytes, bytes.length, { ...headers, "If-None-Match": "*" });
      return true;
    } catch (error) {
      if (s3Code(error) === "PreconditionFailed") return false;
      // versitygw may close the connection before the client has read its refusal.
      if (["ECONNRESET", "EPIPE"].includes(s3Code(error)) && (await exists(name))) return false;
      throw error;
    }
  };

  const put = async (name: ObjectName, object: AudioObject): Promise<void> => {
    const headers = { ...headersOf(name), ...metadataOf(object) };
    await client.putObject(bucket, name, object.bytes, object.bytes.length, headers);
  };

  const addOnce = async (name: ObjectName, object: AudioObject): Promise<void> => {
    const headers = { ...headersOf(name), ...metadataOf(object) };
    if (await create(name, object.bytes, headers)) return;
    if (await isDamaged(name)) await put(name, object);
  };

  return {
    read,
    /** Stores the object, unless it exists and is whole. */
    add: (name: ObjectName, object: AudioObject): Promise<void> => inBucket(() => addOnce(name, object)),
    /**
     * Renews the object's Last-Modified: copies it onto itself. versitygw 1.8 changes only the metadata then, so the same
     * bytes are written again.
     */
    touch: async (name: ObjectName): Promise<void> => {
      await ignoring(["NotFound", "NoSuchKey", "NoSuchBucket"], async () => {
        const { metaData, lastModified } = await client.statObject(bucket, name);
        const target = {
          Bucket: bucket,
          Object: name,
          MetadataDirective: "REPLACE" as const, // otherwise S3 refuses to copy an object onto itself
          UserMetadata: ownMetadata(metaData),
          Headers: headersOf(name),
        };
        await client.copyObject(
          new CopySourceOptions({ Bucket: bucket, Object: name }),
          new CopyDestinationOptions(target),
        );
        const renewed = await client.statObject(bucket, name);
        if (renewed.lastModified > lastModified) return;
        const object = await read(name);
        if (object) await put(name, object);
      });
    },
    /** Up to 1000 objects, in the order of their names. `next`: the continuation token of the next page. */
    page: async (
      prefix: string,
      token: string,
    ): Promise<{ objects: readonly ListedObject[]; next: string | undefined }> => {
      const found = await ignoring(["NoSuchBucket"], () =>
        client.listObjectsV2Query(bucket, prefix, token, "", 1000, ""),
      );
      const objects = (found?.objects ?? []).flatMap(({ name, size, lastModified }) =>
        name === undefined || !lastModified
          ? []
          : [{ name, bytes: size, usedAt: wholeSeconds(lastModified) }],
      );
      return { objects, next: found?.isTruncated ? found.nextContinuationToken : undefined };
    },
    remove: (name: ObjectName): Promise<void> => client.removeObject(bucket, name),
    /** The Last-Modified of an object that is created for this label. */
    firstSeen: async (label: string): Promise<number> => {
      const name = `first-seen/${label}`;
      await inBucket(() => create(name, Buffer.from(label), uncached));
      return (await client.statObject(bucket, name)).lastModified.getTime();
    },
    /** Writes an object and removes it. */
    probe: (): Promise<void> =>
      inBucket(async () => {
        await client.putObject(bucket, "ping", Buffer.from("ping"), 4, uncached);
        await client.removeObject(bucket, "ping").catch(() => undefined); // one that stays is written again
      }),
  };
};

/** MinIO lists milliseconds; the headers of an object have none. */
const wholeSeconds = (time: Date): number => Math.floor(time.getTime() / 1000) * 1000;

/** Undefined if it fails with one of these codes. */
const ignoring = async <T>(codes: readonly string[], run: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await run();
  } catch (error) {
    if (codes.includes(s3Code(error))) return undefined;
    throw error;
  }
};
