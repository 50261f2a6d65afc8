import {
  AccessDeniedError,
  DeadlineExceededError,
  MaxAppendSizeExceededError,
  NotLeaderError,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from "@eventstore/db-client";
import { EventStoreUnavailable, type ExpectedRevision, WrongExpectedRevision } from "../event-store.ts";

/** gRPC status codes: https://grpc.io/docs/guides/status-codes */
const status = {
  unknown: 2,
  invalidArgument: 3,
  notFound: 5,
  permissionDenied: 7,
  aborted: 10,
  unimplemented: 12,
  unauthenticated: 16,
};

/** Errors that are the server's response to a call. */
const responses = [
  AccessDeniedError, // may concern one stream only
  DeadlineExceededError,
  MaxAppendSizeExceededError,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
];

/**
 * True unless the error is a response to the call, or names another leader, to which the client
 * connects by itself. After gRPC codes 2, 13 and 15 the client never reconnects, and after a failed
 * discovery it repeats that error forever (db-client 6.2.1).
 */
export const requiresNewClient = (error: unknown): boolean =>
  !(
    error instanceof NotLeaderError ||
    responses.some((kind) => error instanceof kind) ||
    isInvalidPosition(error) ||
    isConsumerTooSlow(error)
  );

/**
 * The server reached its own timeout and does not know whether the append is stored. The client
 * maps both forms to this class: a batch's status, and a single call's DEADLINE_EXCEEDED.
 */
export const isOutcomeUnknown = (error: unknown): boolean => error instanceof DeadlineExceededError;

/** The server ended the subscription because the log grew faster than the consumer read. */
export const isConsumerTooSlow = (error: unknown): boolean => codeOf(error) === status.aborted;

/** No event starts at the position of the read. */
export const isInvalidPosition = (error: unknown): boolean =>
  codeOf(error) === status.invalidArgument || /InvalidPosition/.test((error as Error)?.message);

export const isAccessDenied = (error: unknown): boolean =>
  error instanceof AccessDeniedError ||
  codeOf(error) === status.permissionDenied ||
  codeOf(error) === status.unauthenticated;

export const isUnimplemented = (error: unknown): boolean => codeOf(error) === status.unimplemented;

export const isStreamNotFound = (error: unknown): boolean => error instanceof StreamNotFoundError;

export const isNotFound = (error: unknown): boolean => codeOf(error) === status.notFound;

/** The server's message of an error with gRPC code UNKNOWN; undefined for other errors. */
export const unknownErrorMessage = (error: unknown): string | undefined => {
  if (codeOf(error) !== status.unknown) return undefined;
  const { message = "" } = error as { message?: string };
  return message
    .replace(/^2 UNKNOWN: /, "")
    .replaceAll(/\s+/g, " ")
    .slice(0, 200);
};

const codeOf = (error: unknown): unknown => (error as { code?: unknown })?.code;

/** The server refuses these credentials. The failure is permanent: do not retry. */
export class CredentialsRefused extends EventStoreUnavailable {}

/** The server's TLS certificate is not trusted: do not retry. */
export class CertificateRefused extends EventStoreUnavailable {
  constructor(problem: string, options: ErrorOptions) {
    super(`the event store's TLS certificate is refused: ${problem}`, options);
  }
}

/** Only one of client and server uses TLS: do not retry. */
export class WrongTls extends EventStoreUnavailable {}

/** The port's error for a failed append. */
export const toAppendError = (error: unknown, stream: string, expected: ExpectedRevision): Error => {
  if (error instanceof WrongExpectedVersionError) {
    const { actualVersion } = error;
    const actual = actualVersion === "no_stream" ? -1 : Number(actualVersion);
    return new WrongExpectedRevision(stream, expected, actual);
  }
  if (error instanceof MaxAppendSizeExceededError)
    return new RangeError("the append exceeds the event store's size limit");
  if (isOutcomeUnknown(error))
    return new EventStoreUnavailable("the event store does not know yet whether the append is stored");
  if (error instanceof StreamDeletedError) return new Error(`the stream ${stream} is deleted permanently`);
  return toUnavailable(error);
};

/**
 * Keeps the error's kind only: the client's messages contain addresses, and its errors hold the
 * whole call.
 */
export const toUnavailable = (error: unknown): EventStoreUnavailable => {
  if (error instanceof EventStoreUnavailable) return error;
  const { type } = error as { type?: unknown };
  const kind = [typeof type === "string" ? type : "error", codeOf(error)].filter(
    (part) => part !== undefined,
  );
  const cause = new Error(`EventStoreDB client: ${kind.join(", code ")}`);
  if (isAccessDenied(error))
    return new CredentialsRefused("the event store refuses the credentials", { cause });
  return new EventStoreUnavailable("the event store cannot be reached", { cause });
};
