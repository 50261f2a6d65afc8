import { describeRefusal, isInternalError, isRetryable, presentError } from "../kernel/errors/error-codes.ts";
import type { StreamError } from "./messages.ts";

/**
 * The codes that exist only on sockets: whether a retry may succeed, and whether a client can
 * receive the code.
 */
const socketCodes = {
  CANCELLED: { retryable: false, isSent: true },
  TOO_MANY_STREAMS: { retryable: true, isSent: true },
  /** Ends the syntheses of a socket whose client is gone. */
  CLIENT_LEFT: { retryable: false, isSent: false },
} as const;

type SocketCode = keyof typeof socketCodes;
export const sentSocketCodes = (Object.keys(socketCodes) as SocketCode[]).filter(
  (code) => socketCodes[code].isSent,
);

/** An error that exists only on sockets. */
export class SocketError extends Error {
  override readonly name = "SocketError";
  readonly code: SocketCode;
  readonly retryable: boolean;

  constructor(message: string, code: SocketCode) {
    super(message);
    this.code = code;
    this.retryable = socketCodes[code].retryable;
  }
}

/**
 * The error message for the client, with the same code and text as over HTTP. `id` identifies the
 * synthesis that failed.
 */
export const toErrorMessage = (error: unknown, id?: string): StreamError => {
  const base = { type: "error", ...(id !== undefined && { id }) } as const;
  if (error instanceof SocketError) {
    const { message, retryable, code } = error;
    return { ...base, message, retryable, code };
  }
  const response = presentError(error);
  const { message, code, errors } = response.body.error;
  const retryAfter = response.headers["Retry-After"];
  return {
    ...base,
    message,
    retryable: isRetryable(error),
    ...(code && { code }),
    ...(retryAfter && { retryAfterSeconds: Number(retryAfter) }),
    ...(errors && { errors }),
  };
};

/** True if the error is a fault of the service and must be logged. */
export const isInternal = (error: unknown): boolean =>
  !(error instanceof SocketError) && isInternalError(presentError(error));

/**
 * The reason without parts of texts, for the log. An error that exists only on sockets has none:
 * its code says enough.
 */
export const reasonOf = (error: unknown): { readonly reason?: string } => {
  if (error instanceof SocketError) return {};
  const { reason } = describeRefusal(error);
  return reason === undefined ? {} : { reason };
};
