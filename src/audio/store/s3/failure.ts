import { S3Error } from "minio";
import { AudioStoreUnavailable } from "../audio-store.ts";

/** What went wrong, by its code alone: the vendor's errors name keys, signatures and addresses. */
export class S3Failure extends Error {
  override readonly name = "S3Failure";
  readonly code: string;
  /** The server understood and said no: it would say so again. */
  readonly refused: boolean;

  constructor(code: string, refused = false) {
    super(`S3 failed with ${code}`);
    this.code = code;
    this.refused = refused;
  }
}

/** `NoSuchKey`, `AccessDenied`, …; `ECONNREFUSED`, …; `HTTP_503`; `UNKNOWN`. */
export const s3Code = (error: unknown): string => {
  if (!(error instanceof Error)) return "UNKNOWN";
  if ("code" in error && typeof error.code === "string" && /^\w{1,64}$/.test(error.code)) return error.code;
  const [, status] = /\bHTTP status: (\d{3})\b/.exec(error.message) ?? []; // the client knows no other way to tell it
  return status === undefined ? "UNKNOWN" : `HTTP_${status}`;
};

/** Two who do the same at the same time: the one who is late may try again. */
const late = ["OperationAborted", "ConditionalRequestConflict", "RequestTimeout"];
/** MinIO's words and Ceph's; somebody may make room, and what is there can be read. */
const full = ["XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "QuotaExceeded"];
const passing = [...late, ...full];

const failureOf = (error: unknown): S3Failure => {
  const code = s3Code(error);
  return new S3Failure(code, error instanceof S3Error && code !== "UNKNOWN" && !passing.includes(code));
};

/** Runs it and tells what went wrong as the port does, except that somebody aborted it: then the signal's reason. */
export const translateS3Errors = async <T>(
  what: "opened" | "read" | "written",
  signal: AbortSignal | undefined,
  run: () => Promise<T>,
): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    signal?.throwIfAborted();
    const cause = failureOf(error);
    throw new AudioStoreUnavailable(`The audio store cannot be ${what}: ${cause.code}.`, { cause });
  }
};

/** Whether another try would change nothing: wrong credentials, a forbidden bucket, a clock that is off. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof AudioStoreUnavailable && error.cause instanceof S3Failure && error.cause.refused;
