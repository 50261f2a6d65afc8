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

/** gRPC's codes that matter here (https://grpc.io/docs/guides/status-codes). */
const code = {
  unknown: 2,
  invalidArgument: 3,
  notFound: 5,
  permissionDenied: 7,
  aborted: 10,
  unimplemented: 12,
  unauthenticated: 16,
};

const answers = [
  DeadlineExceededError,
  MaxAppendSizeExceededError,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
];

/**
 * Whether the client is to be replaced. Only an answer to what was asked speaks for it; to another leader it turns by
 * itself. Codes 2, 13 and 15 never make it reconnect, and errors without a type can be remembered for ever (6.2.1).
 */
export const requiresNewClient = (error: unknown): boolean =>
  !(
    error instanceof NotLeaderError ||
    answers.some((kind) => error instanceof kind) ||
    isInvalidPosition(error) ||
    isConsumerTooSlow(error)
  );

/**
 * The server has answered that it does not know, in its own time, what came of an append: it may be stored. In a batch's
 * status the client has no code for it, in a call of its own it is gRPC's DEADLINE_EXCEEDED.
 */
export const isOutcomeUnknown = (error: unknown): boolean => error instanceof DeadlineExceededError;

/** The server stopped telling because the consumer was slower than the log grew: subscribe again, nothing is wrong. */
export const isConsumerTooSlow = (error: unknown): boolean => codeOf(error) === code.aborted;

/** Nothing can be read from there: no event begins at such a position. */
export const isInvalidPosition = (error: unknown): boolean =>
  codeOf(error) === code.invalidArgument || /InvalidPosition/.test((error as Error)?.message);

/** Trying again with the same credentials would not help. */
export class CredentialsRefused extends EventStoreUnavailable {}

/** The server's TLS certificate is not trusted. */
export class CertificateRefused extends EventStoreUnavailable {
  constructor(problem: string, options: ErrorOptions) {
    super(`the event store's TLS certificate is refused: ${problem}`, options);
  }
}

export const isAccessDenied = (error: unknown): boolean =>
  error instanceof AccessDeniedError ||
  codeOf(error) === code.permissionDenied ||
  codeOf(error) === code.unauthenticated;

/** The server does not speak of that at all. */
export const isUnimplemented = (error: unknown): boolean => codeOf(error) === code.unimplemented;

export const isStreamNotFound = (error: unknown): boolean => error instanceof StreamNotFoundError;

/** The server's own words for an error to which gRPC has given no better code than UNKNOWN; undefined for others. */
export const unknownErrorMessage = (error: unknown): string | undefined => {
  if (codeOf(error) !== code.unknown) return undefined;
  const { message = "" } = error as { message?: string };
  return message
    .replace(/^2 UNKNOWN: /, "")
    .replaceAll(/\s+/g, " ")
    .slice(0, 200);
};

/** What was asked for by name is not there. */
export const isNotFound = (error: unknown): boolean => codeOf(error) === code.notFound;

const codeOf = (error: unknown): unknown => (error as { code?: unknown })?.code;

/** The port's word for what came of an append. */
export const toAppendError = (error: unknown, stream: string, expected: ExpectedRevision): Error => {
  if (error instanceof WrongExpectedVersionError) {
    const { actualVersion } = error;
    return new WrongExpectedRevision(
      stream,
      expected,
      actualVersion === "no_stream" ? -1 : Number(actualVersion),
    );
  }
  if (error instanceof MaxAppendSizeExceededError)
    return new RangeError("the event store takes smaller appends only");
  if (isOutcomeUnknown(error))
    return new EventStoreUnavailable("the event store does not know yet whether the append is stored");
  if (error instanceof StreamDeletedError) return new Error("the stream was deleted for good");
  return toUnavailable(error);
};

/** What the client says quotes addresses and keeps the whole call: its kind is enough. */
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
