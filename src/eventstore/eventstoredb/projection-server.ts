import {
  DeadlineExceededError,
  type EventStoreDBClient,
  type ProjectionDetails,
} from "@eventstore/db-client";
import { EventStoreUnavailable } from "../event-store.ts";
import { type ProjectionServer, ProjectionServerBusy, type ServerProjection } from "../projection-server.ts";
import { explainConnection } from "./connection-problem.ts";
import {
  CredentialsRefused,
  isAccessDenied,
  isNotFound,
  isUnimplemented,
  toUnavailable,
  unknownErrorMessage,
} from "./errors.ts";
import { createReconnectingClient } from "./reconnecting-client.ts";

/**
 * The deadline of a call. The server compiles a script before it responds: on a busy machine this
 * took 2.2 s.
 */
const deadlineMs = 30_000;
/** Leaves time for the connection. */
const timeoutMs = deadlineMs + 5_000;
const withinDeadline = { deadline: deadlineMs };
/** With a projection, the server removes what it has stored of its position and state. */
const withItsStreams = { ...withinDeadline, deleteCheckpointStream: true, deleteStateStream: true };

/**
 * Projections over gRPC. The connection string's user must be in the server's group `$ops` or
 * `$admins`.
 * @throws {TypeError} if the connection string is invalid; the message repeats nothing of it
 */
export const openProjectionServer = (url: string): ProjectionServer => {
  const client = createReconnectingClient(url);

  const call = async <T>(action: (client: EventStoreDBClient) => Promise<T>): Promise<T> => {
    try {
      return await client.call(timeoutMs, action);
    } catch (error) {
      const response = toResponse(error);
      if (response) throw response;
      return await explainConnection<T>(url, Promise.reject(toUnavailable(error)));
    }
  };

  return {
    find: (name) => call((current) => findProjection(current, name)),
    create: (name, query) => call((current) => current.createProjection(name, query, withinDeadline)),
    update: (name, query) => call((current) => current.updateProjection(name, query, withinDeadline)),
    enable: (name) => call((current) => current.enableProjection(name, withinDeadline)),
    disable: (name) => call((current) => current.disableProjection(name, withinDeadline)),
    remove: (name) => call((current) => current.deleteProjection(name, withItsStreams)),
    close: client.close,
  };
};

/**
 * Servers before 24.6 respond UNKNOWN, `… received NotFound instead`, for an unknown name. They
 * also respond UNKNOWN for a projection whose script they have not compiled.
 */
const findProjection = async (
  client: EventStoreDBClient,
  name: string,
): Promise<ServerProjection | undefined> => {
  try {
    const details: ProjectionDetails | undefined = await client.getProjectionStatus(name, withinDeadline);
    return details && toServerProjection(details);
  } catch (error) {
    const message = unknownErrorMessage(error);
    if (isNotFound(error) || message?.includes("NotFound")) return undefined;
    if (message === undefined || isNotAuthorized(error)) throw error;
    const reason = `the server has not compiled its script: it took too long (the server's setting ProjectionCompilationTimeout), or has a syntax error; the server's log says which (code 2: ${message})`;
    return { name, state: "faulted", reason, mayRecover: true };
  }
};

const isNotAuthorized = (error: unknown): boolean =>
  isAccessDenied(error) || unknownErrorMessage(error)?.includes("NotAuthorized") === true;

/** The port's error for a response of the server; undefined for other errors. */
const toResponse = (error: unknown): EventStoreUnavailable | undefined => {
  if (isUnimplemented(error))
    return new EventStoreUnavailable("the server runs no projections (its setting RunProjections)");
  if (isNotAuthorized(error))
    return new CredentialsRefused(
      "the server does not let this user manage projections: it must be of the group $ops or $admins",
    );
  if (error instanceof DeadlineExceededError)
    return new ProjectionServerBusy(`the server is busy: it did not respond within ${deadlineMs / 1_000} s`);
  if (isNotFound(error)) return new ProjectionServerBusy("another process has removed the projection");
  const message = unknownErrorMessage(error);
  if (message === undefined) return undefined;
  return new ProjectionServerBusy(`the server responded with an error (code 2): ${message}`);
};

/** Statuses have many forms: `Faulted (Enabled)`, `Running/ReadingSnapshot`, `LoadingState`. */
const toServerProjection = ({ name, status, stateReason, progress }: ProjectionDetails): ServerProjection => {
  if (status.startsWith("Faulted")) return toFaulted(name, stateReason);
  if (status.startsWith("Running")) return { name, state: "running", ...(progress >= 0 && { progress }) };
  return { name, state: status.startsWith("Stopped") ? "stopped" : "changing" };
};

/** `Projection script took too long to compile (took: …, allowed: …`, or `to execute`. */
const toFaulted = (name: string, reason: string): ServerProjection => {
  const [, action] = /took too long to (\w+)/.exec(reason) ?? [];
  if (action === undefined) return { name, state: "faulted", reason };
  const setting = action === "compile" ? "ProjectionCompilationTimeout" : "ProjectionExecutionTimeout";
  return { name, state: "faulted", reason: `${reason}: raise the server's ${setting}`, mayRecover: true };
};
