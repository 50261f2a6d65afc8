import type { Problem } from "./api/problem.ts";

interface ErrorDetails {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly errors?: readonly Problem[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly retryable?: boolean | undefined;
  readonly cause?: unknown;
}

/**
 * Every error of the library. `status` is the HTTP status of the service's response, if there was
 * one. `code` is the service's error code, or one of `NETWORK`, `TIMEOUT`, `ABORTED`,
 * `NOT_SUPPORTED`, `NOT_ALLOWED`, `PLAYBACK_FAILED`.
 */
export class VoxledgerError extends Error {
  override readonly name = "VoxledgerError";
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly errors: readonly Problem[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  /**
   * True if a retry may succeed. Set only for errors received over a WebSocket, which have no HTTP
   * status.
   */
  readonly retryable: boolean | undefined;

  constructor(message: string, { cause, ...details }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, details);
  }
}

export const abortError = (cause?: unknown): VoxledgerError =>
  new VoxledgerError("The operation was cancelled.", { code: "ABORTED", cause });

export const timeoutError = (timeoutMs: number, cause?: unknown): VoxledgerError =>
  new VoxledgerError(`The service did not respond within ${timeoutMs} ms.`, { code: "TIMEOUT", cause });

export const networkError = (cause?: unknown): VoxledgerError =>
  new VoxledgerError("The service could not be reached.", { code: "NETWORK", cause });

/** Codes without an HTTP status that are faults of the call or the page. */
const faults = ["VALIDATION_ERROR", "NOT_FOUND", "NOT_ALLOWED", "NOT_SUPPORTED", "ABORTED"];

/** Statuses below 500 by which the service refuses to speak whatever is asked of it. */
const refusals = [401, 403, 408, 429];

/**
 * True if the service cannot or will not speak at the moment, so that another voice may continue;
 * false for a fault of the call, which its developer must see.
 */
export const isOutage = ({ status, code }: Pick<VoxledgerError, "status" | "code">): boolean =>
  status === undefined
    ? code !== undefined && !faults.includes(code)
    : status >= 500 || refusals.includes(status);

/** Converts any thrown value to a VoxledgerError. */
export const asVoxledgerError = (error: unknown): VoxledgerError =>
  error instanceof VoxledgerError
    ? error
    : new VoxledgerError(error instanceof Error ? error.message : String(error), { cause: error });

interface ErrorEnvelope {
  readonly error?: {
    readonly message?: string;
    readonly code?: string;
    readonly errors?: readonly Problem[];
  };
}

/**
 * The error of an unsuccessful response. A proxy's response has no error envelope: its message
 * names the status.
 */
export const errorFromResponse = async (response: Response): Promise<VoxledgerError> => {
  const { status, headers } = response;
  const body = (await response.json().catch(() => undefined)) as ErrorEnvelope | null | undefined;
  const retryAfter = headers.get("Retry-After") ?? "";
  return new VoxledgerError(body?.error?.message ?? `The service responded with ${status}.`, {
    status,
    code: body?.error?.code,
    errors: body?.error?.errors,
    retryAfterSeconds: /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined,
  });
};
