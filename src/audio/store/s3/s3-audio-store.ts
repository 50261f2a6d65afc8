import { Client } from "minio";
import { withDeadline } from "../../../async/deadline.ts";
import { systemTime, type Time } from "../../../async/time.ts";
import { type AudioFolder, audioFolders } from "../../../domain/synthesis/recipe.ts";
import {
  type AudioName,
  type AudioStore,
  checkAudio,
  checkAudioName,
  checkHash,
  groupByHash,
} from "../audio-store.ts";
import { PendingWrites } from "../pending-writes.ts";
import type { S3Address } from "../s3-address.ts";
import { S3Bucket } from "./bucket.ts";
import { openS3Connections, retryStaleConnections, type S3Connections } from "./connections.ts";
import { isRefusal, S3Failure, translateS3Errors } from "./failure.ts";
import { retryTransient } from "./retry.ts";

export interface S3AudioStoreOptions extends S3Address {
  readonly time?: Time;
  /** Called if the server cannot be reached at the start. */
  readonly warn?: (sentence: string) => void;
}

/** The deadlines cover everything from waiting for a connection to the last byte. */
const readMs = 20_000;
const writeMs = 25_000;
const pingMs = 5_000;
/**
 * The largest single request of S3. Objects are never sent in parts, which cannot be conditional.
 */
const onePart = 5 * 1024 ** 3;

/**
 * Stores objects in a bucket of an S3 server, which must support conditional puts (`If-None-Match:
 * *`): they never overwrite an object. A missing bucket is created. An unreachable server does not
 * prevent the start.
 * @throws {AudioStoreUnavailable} the server refuses, as it would refuse every other call
 */
export const openS3AudioStore = async (parts: S3AudioStoreOptions): Promise<AudioStore> => {
  const { time = systemTime, warn = () => undefined } = parts;
  const connections = openS3Connections(parts.tls);
  const writing = new PendingWrites();

  const within = openBucket(parts, connections, time);

  const change = <T>(run: (bucket: S3Bucket) => Promise<T>): Promise<T> =>
    translateS3Errors("written", undefined, () => within(writeMs, undefined, run));

  const reading = async <T>(
    name: AudioName,
    signal: AbortSignal | undefined,
    run: (bucket: S3Bucket) => Promise<T>,
  ): Promise<T> => {
    checkAudioName(name);
    return translateS3Errors("read", signal, () => within(readMs, signal, run));
  };

  const probe = (): Promise<void> => within(pingMs, undefined, (bucket) => bucket.probe());

  try {
    await translateS3Errors("opened", undefined, probe);
  } catch (error) {
    if (isRefusal(error)) {
      connections.close();
      throw error;
    }
    warn(`${(error as Error).message} Audio is stored as soon as it can be written.`);
  }

  return {
    get: (name, signal) => reading(name, signal, (bucket) => bucket.read(name)),
    stat: (name, signal) => reading(name, signal, (bucket) => bucket.stat(name)),
    read: (name, range, signal) => reading(name, signal, (bucket) => bucket.readPart(name, range)),
    put: async (name, object) => {
      checkAudio(name, object);
      return writing.add(change((bucket) => bucket.add(name, object)));
    },
    touch: async (name) => {
      checkAudioName(name);
      await change((bucket) => bucket.touch(name));
    },
    list: (signal, folder) => groupByHash(listAll(within, folder ? [folder] : audioFolders, signal)),
    remove: async (hash, condition) => {
      checkHash(hash);
      return await change((bucket) => removeAll(bucket, hash, condition?.unusedSince));
    },
    ping: () => translateS3Errors("written", undefined, probe),
    close: async () => {
      await writing.settled();
      connections.close();
    },
  };
};

type WithinDeadline = ReturnType<typeof openBucket>;

/** The client takes no signals, so each call has its own client. Connections are shared. */
const openBucket =
  (address: S3Address, connections: S3Connections, time: Time) =>
  <T>(ms: number, signal: AbortSignal | undefined, run: (bucket: S3Bucket) => Promise<T>): Promise<T> => {
    const onTimeout = () => new S3Failure("ETIMEDOUT");
    return withDeadline({ time, ms, onTimeout, signal }, (either) => {
      const client = createClient(address, connections.until(either));
      const bucket = new S3Bucket(client, address.bucket, address.region);
      return retryTransient({ time, signal: either }, () => retryStaleConnections(either, () => run(bucket)));
    });
  };

async function* listAll(within: WithinDeadline, folders: readonly AudioFolder[], signal: AbortSignal) {
  for (const folder of folders) {
    for (let token: string | undefined = ""; token !== undefined; ) {
      const from: string = token;
      const page = () => within(readMs, signal, (bucket) => bucket.page(`${folder}/`, from));
      const { objects, next } = await translateS3Errors("read", signal, page);
      yield* objects;
      token = next;
    }
  }
}

/** A hash has only a few objects, which are in one page of the listing. */
const removeAll = async (
  bucket: S3Bucket,
  hash: string,
  unusedSince = Number.POSITIVE_INFINITY,
): Promise<string[]> => {
  const removed: string[] = [];
  for (const folder of audioFolders) {
    const { objects } = await bucket.page(`${folder}/${hash}.`, "");
    if (objects.some(({ usedAt }) => usedAt > unusedSince)) continue;
    for (const { name } of objects) {
      await bucket.remove(name);
      removed.push(name);
    }
  }
  return removed;
};

const createClient = (
  { endpoint, port, tls, accessKey, secretKey, region }: S3Address,
  connections: ReturnType<S3Connections["until"]>,
): Client =>
  new Client({
    endPoint: endpoint,
    port,
    useSSL: tls,
    accessKey,
    secretKey,
    region, // otherwise the client requests it
    partSize: onePart,
    retryOptions: { disableRetry: true }, // retry.ts retries within the deadline
    ...connections,
  });
