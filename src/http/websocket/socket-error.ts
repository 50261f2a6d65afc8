import { isOurFault, isRetryable, presentError } from "../kernel/errors.ts";
import type { StreamError } from "./messages.ts";

/** An error that exists only on sockets. */
export class SocketError extends Error {
  override readonly name = "SocketError";
  readonly code: string;
  readonly retryable: boolean;

  constructor(message: string, code: string, { retryable }: { retryable: boolean }) {
    super(message);
    this.code = code;
    this.retryable = retryable;
  }
}

/** The error message for the client, with the same code and text as over HTTP. `id` identifies the synthesis that failed. */
export const toErrorMessage = (error: unknown, id?: string): StreamError => {
  const base = { type: "error", ...(id !== undefined && { id }) } as const;
  if (error instanceof SocketError) {
    const { message, retryable, code } = error;
    return { ...base, message, retryable, code };
  }
  const answer = presentError(error);
  const { message, code, errors } = answer.body.error;
  const retryAfter = answer.headers["Retry-After"];
  return {
    ...base,
    message,
    retryable: isRetryable(error),
    ...(code && { code }),
    ...(retryAfter && { retryAfterSeconds: Number(retryAfter) }),
    ...(errors && { errors }),
  };
};

/** Whether the error is a fault of the service and must be logged. */
export const isServerFault = (error: unknown): boolean =>
  !(error instanceof SocketError) && isOurFault(presentError(error));
