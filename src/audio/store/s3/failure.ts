import { S3Error } from "minio";
import { AudioStoreFull, AudioStoreUnavailable, DamagedAudio } from "../audio-store.ts";

/**
 * An error with the code alone, because the messages of the client contain keys, signatures and
 * addresses.
 */
export class S3Failure extends Error {
  override readonly name = "S3Failure";
  readonly code: string;
  /** True if the server refused the request and would refuse it again. */
  readonly refused: boolean;

  constructor(code: string, refused = false) {
    super(`S3 failed with ${code}`);
    this.code = code;
    this.refused = refused;
  }
}

/**
 * Returns S3's code (`NoSuchKey`, `AccessDenied`, …), the system's (`ECONNREFUSED`, …), the status
 * (`HTTP_503`), or `UNKNOWN`.
 */
export const s3Code = (error: unknown): string => {
  if (!(error instanceof Error)) return "UNKNOWN";
  if ("code" in error && typeof error.code === "string" && /^\w{1,64}$/.test(error.code)) return error.code;
  // The client reports the status only in its message.
  const [, status] = /\bHTTP status: (\d{3})\b/.exec(error.message) ?? [];
  return status === undefined ? "UNKNOWN" : `HTTP_${status}`;
};

/** The request came too late, or collided with another one: it may be retried. */
const late = ["OperationAborted", "ConditionalRequestConflict", "RequestTimeout"];
/**
 * Codes of MinIO and Ceph for a full store. Space may become free, and existing objects can be
 * read.
 */
const full = ["XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "QuotaExceeded"];
const temporary = [...late, ...full];

const failureOf = (error: unknown): S3Failure => {
  const code = s3Code(error);
  return new S3Failure(code, error instanceof S3Error && code !== "UNKNOWN" && !temporary.includes(code));
};

/**
 * Translates errors into those of the port.
 * @throws the reason of an aborted signal
 */
export const translateS3Errors = async <T>(
  what: "opened" | "read" | "written",
  signal: AbortSignal | undefined,
  run: () => Promise<T>,
): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof DamagedAudio) throw error;
    const cause = failureOf(error);
    const Failure = full.includes(cause.code) ? AudioStoreFull : AudioStoreUnavailable;
    throw new Failure(`The audio store cannot be ${what}: ${cause.code}.`, { cause });
  }
};

/** True if a retry would not help: wrong credentials, a forbidden bucket, a wrong clock. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof AudioStoreUnavailable && error.cause instanceof S3Failure && error.cause.refused;
