/** One thing that is wrong with what was sent. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export interface ErrorDetails {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly errors?: readonly Problem[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly retryable?: boolean | undefined;
  readonly cause?: unknown;
}

/**
 * Whatever goes wrong in the library or is refused by the service. `status` is there when the service answered; `code`
 * is the service's own, or one of `NETWORK`, `TIMEOUT`, `ABORTED`, `NOT_SUPPORTED`, `NOT_ALLOWED`, `PLAYBACK_FAILED`.
 */
export class VoxledgerError extends Error {
  override readonly name = "VoxledgerError";
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly errors: readonly Problem[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** Whether asking again may help, where the service said so: over a WebSocket, which has no statuses. */
  readonly retryable: boolean | undefined;

  constructor(
    message: string,
    { status, code, errors, retryAfterSeconds, retryable, cause }: ErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.errors = errors;
    this.retryAfterSeconds = retryAfterSeconds;
    this.retryable = retryable;
  }
}

/** The error of an answer that is not a success; an answer without the service's envelope is told by its status. */
export const errorFromResponse = async (response: Response): Promise<VoxledgerError> => {
  const { status, headers } = response;
  const { error } = await envelope(response);
  return new VoxledgerError(error?.message ?? `The service answered ${status}.`, {
    status,
    code: error?.code,
    errors: error?.errors,
    retryAfterSeconds: wholeSeconds(headers.get("Retry-After")),
  });
};

interface Envelope {
  readonly error?: {
    readonly message?: string;
    readonly code?: string;
    readonly errors?: readonly Problem[];
  };
}

const envelope = async (response: Response): Promise<Envelope> => {
  try {
    return ((await response.json()) ?? {}) as Envelope;
  } catch {
    return {}; // a proxy's page, or nothing
  }
};

const wholeSeconds = (value: string | null): number | undefined =>
  value !== null && /^\d+$/.test(value) ? Number(value) : undefined;

/** What was thrown, as the library's own error. */
export const asVoxledgerError = (error: unknown): VoxledgerError =>
  error instanceof VoxledgerError
    ? error
    : new VoxledgerError(error instanceof Error ? error.message : String(error), { cause: error });
