import type { IncomingMessage } from "node:http";
import { type Client, CopyDestinationOptions, CopySourceOptions } from "minio";
import {
  type AudioContent,
  type AudioInfo,
  type AudioName,
  type AudioPart,
  type ByteRange,
  DamagedAudio,
  keepUnlessDamaged,
  type StoredAudio,
} from "../audio-store.ts";
import { s3Code } from "./failure.ts";
import {
  headersOf,
  infoOf,
  metadataOf,
  ownMetadata,
  readPartResponse,
  readResponse,
} from "./object-metadata.ts";

const uncached = { "Cache-Control": "no-store" };

/**
 * The operations on a bucket, which throw the client's errors.
 * Creates the bucket on the first write if it is missing.
 */
export class S3Bucket {
  readonly #client: Client;
  readonly #bucket: string;
  readonly #region: string;

  constructor(client: Client, bucket: string, region: string) {
    this.#client = client;
    this.#bucket = bucket;
    this.#region = region;
  }

  /**
   * Resolves with undefined if there is no such object.
   * @throws {DamagedAudio}
   */
  read(name: AudioName): Promise<StoredAudio | undefined> {
    return ignoring(["NoSuchKey", "NoSuchBucket"], async () =>
      readResponse((await this.#client.getObject(this.#bucket, name)) as IncomingMessage),
    );
  }

  /**
   * Resolves with undefined if there is no such object.
   * @throws {DamagedAudio}
   */
  async stat(name: AudioName): Promise<AudioInfo | undefined> {
    const found = await ignoring(["NotFound", "NoSuchKey", "NoSuchBucket"], () =>
      this.#client.statObject(this.#bucket, name),
    );
    return found && infoOf(found.size, found.metaData, found.lastModified.getTime());
  }

  /**
   * Resolves with undefined if there is no such object.
   * @throws {DamagedAudio}
   */
  readPart(name: AudioName, range: ByteRange): Promise<AudioPart | undefined> {
    const { start, end } = range;
    return ignoring(["NoSuchKey", "NoSuchBucket"], async () => {
      const response = await this.#client
        .getPartialObject(this.#bucket, name, start, end - start)
        .catch((error: unknown) => {
          if (s3Code(error) === "InvalidRange") throw new DamagedAudio();
          throw error;
        });
      return await readPartResponse(response as IncomingMessage, range);
    });
  }

  /**
   * Stores the object, unless one exists that is not damaged: then resolves with the existing
   * object.
   */
  add(name: AudioName, object: AudioContent): Promise<AudioContent | undefined> {
    return this.#inBucket(async () => {
      const headers = { ...headersOf(name), ...metadataOf(object) };
      if (await this.#create(name, object.bytes, headers)) return undefined;
      return await keepUnlessDamaged(this.read(name), () => this.#put(name, object));
    });
  }

  /**
   * Renews the object's Last-Modified by copying the object onto itself. Some servers, such as
   * versitygw 1.8, then replace only the metadata. If Last-Modified has not changed, the same bytes
   * are written again.
   */
  async touch(name: AudioName): Promise<void> {
    const Bucket = this.#bucket;
    await ignoring(["NotFound", "NoSuchKey", "NoSuchBucket"], async () => {
      const { metaData, lastModified } = await this.#client.statObject(Bucket, name);
      const target = {
        Bucket,
        Object: name,
        MetadataDirective: "REPLACE" as const, // otherwise S3 refuses to copy an object onto itself
        UserMetadata: ownMetadata(metaData),
        Headers: headersOf(name),
      };
      await this.#client.copyObject(
        new CopySourceOptions({ Bucket, Object: name }),
        new CopyDestinationOptions(target),
      );
      const renewed = await this.#client.statObject(Bucket, name);
      if (renewed.lastModified > lastModified) return;
      const object = await this.read(name);
      if (object) await this.#put(name, object);
    });
  }

  /**
   * Lists up to 1000 objects, in the order of their names. `next`: the continuation token of the
   * next page.
   */
  async page(prefix: string, token: string) {
    const found = await ignoring(["NoSuchBucket"], () =>
      this.#client.listObjectsV2Query(this.#bucket, prefix, token, "", 1000, ""),
    );
    const objects = (found?.objects ?? []).flatMap(({ name, size, lastModified }) =>
      name === undefined || !lastModified ? [] : [{ name, bytes: size, usedAt: wholeSeconds(lastModified) }],
    );
    return { objects, next: found?.isTruncated ? found.nextContinuationToken : undefined };
  }

  remove(name: AudioName): Promise<void> {
    return this.#client.removeObject(this.#bucket, name);
  }

  /** Writes an object and removes it. */
  probe(): Promise<void> {
    return this.#inBucket(async () => {
      await this.#client.putObject(this.#bucket, "ping", Buffer.from("ping"), 4, uncached);
      await this.remove("ping").catch(() => undefined); // the next probe overwrites it
    });
  }

  async #inBucket<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (s3Code(error) !== "NoSuchBucket") throw error;
      await ignoring(["BucketAlreadyOwnedByYou", "BucketAlreadyExists"], () =>
        this.#client.makeBucket(this.#bucket, this.#region),
      );
      return await write();
    }
  }

  /** Resolves with false if the object exists. */
  async #create(name: string, bytes: Buffer, headers: Record<string, string>): Promise<boolean> {
    try {
      const conditional = { ...headers, "If-None-Match": "*" };
      await this.#client.putObject(this.#bucket, name, bytes, bytes.length, conditional);
      return true;
    } catch (error) {
      if (s3Code(error) === "PreconditionFailed") return false;
      // versitygw may close the connection before the client has read its refusal.
      if (["ECONNRESET", "EPIPE"].includes(s3Code(error)) && (await this.#exists(name))) return false;
      throw error;
    }
  }

  async #put(name: AudioName, object: AudioContent): Promise<void> {
    const headers = { ...headersOf(name), ...metadataOf(object) };
    await this.#client.putObject(this.#bucket, name, object.bytes, object.bytes.length, headers);
  }

  async #exists(name: string): Promise<boolean> {
    const found = await ignoring(["NotFound"], () => this.#client.statObject(this.#bucket, name));
    return found !== undefined;
  }
}

/** Rounds down to seconds: MinIO lists milliseconds, but the headers of an object have none. */
const wholeSeconds = (time: Date): number => Math.floor(time.getTime() / 1000) * 1000;

/** Resolves with undefined if `run` fails with one of these codes. */
const ignoring = async <T>(codes: readonly string[], run: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await run();
  } catch (error) {
    if (codes.includes(s3Code(error))) return undefined;
    throw error;
  }
};
