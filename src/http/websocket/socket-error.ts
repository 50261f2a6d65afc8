import { isOurFault, isRetryable, presentError } from "../kernel/errors.ts";
import type { StreamError } from "./messages.ts";

/** What ends a synthesis or a socket, and HTTP has no word for. */
export class SocketError extends Error {
  override readonly name = "SocketRefusal";
  readonly code: string;
  readonly retryable: boolean;

  constructor(message: string, code: string, { retryable }: { retryable: boolean }) {
    super(message);
    this.code = code;
    this.retryable = retryable;
  }
}

/** An error as it is told on the socket: what an answer over HTTP tells of it, and whether to try again. */
export const toErrorMessage = (error: unknown, id?: string): StreamError => {
  const of = id === undefined ? {} : { id };
  if (error instanceof SocketError) {
    const { message, retryable, code } = error;
    return { type: "error", ...of, message, retryable, code };
  }
  const answer = presentError(error);
  const { message, code, errors } = answer.body.error;
  const after = answer.headers["Retry-After"];
  return {
    type: "error",
    ...of,
    message,
    retryable: isRetryable(error),
    ...(code && { code }),
    ...(after && { retryAfterSeconds: Number(after) }),
    ...(errors && { errors }),
  };
};

/** Whether the error is the service's own fault and belongs in the log. */
export const isServerFault = (error: unknown): boolean =>
  !(error instanceof SocketError) && isOurFault(presentError(error));
