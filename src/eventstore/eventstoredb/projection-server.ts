import type { EventStoreDBClient, ProjectionDetails } from "@eventstore/db-client";
import { EventStoreUnavailable } from "../event-store.ts";
import type { ProjectionServer, ServerProjection } from "../projection-server.ts";
import {
  CredentialsRefused,
  isAccessDenied,
  isNotFound,
  isUnimplemented,
  toUnavailable,
  unknownErrorMessage,
} from "./errors.ts";
import { createReconnectingClient } from "./reconnecting-client.ts";

/** The deadline of a call: the server compiles a script before it responds. */
const timeoutMs = 10_000;

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
      throw toPortError(error);
    }
  };

  return {
    find: (name) => call((current) => findProjection(current, name)),
    create: (name, query) => call((current) => current.createProjection(name, query)),
    update: (name, query) => call((current) => current.updateProjection(name, query)),
    enable: (name) => call((current) => current.enableProjection(name)),
    disable: (name) => call((current) => current.disableProjection(name)),
    close: client.close,
  };
};

/**
 * Servers before 24.6 respond UNKNOWN, `… received NotFound instead`, for an unknown name. Every
 * server responds UNKNOWN for a projection whose script has a syntax error.
 */
const findProjection = async (
  client: EventStoreDBClient,
  name: string,
): Promise<ServerProjection | undefined> => {
  try {
    const details: ProjectionDetails | undefined = await client.getProjectionStatus(name);
    return details && toServerProjection(details);
  } catch (error) {
    const message = unknownErrorMessage(error);
    if (isNotFound(error) || message?.includes("NotFound")) return undefined;
    if (message === undefined || isNotAuthorized(error)) throw error;
    const reason = `the server cannot report its status, as for a script with a syntax error (code 2: ${message})`;
    return { name, state: "faulted", reason };
  }
};

const isNotAuthorized = (error: unknown): boolean =>
  isAccessDenied(error) || unknownErrorMessage(error)?.includes("NotAuthorized") === true;

const toPortError = (error: unknown): EventStoreUnavailable => {
  if (isUnimplemented(error))
    return new EventStoreUnavailable("the server runs no projections (its setting RunProjections)");
  if (isNotAuthorized(error))
    return new CredentialsRefused(
      "the server does not let this user manage projections: it must be of the group $ops or $admins",
    );
  const message = unknownErrorMessage(error);
  if (message === undefined) return toUnavailable(error);
  return new EventStoreUnavailable(`the server responded with an error (code 2): ${message}`);
};

/** Statuses have many forms: `Faulted (Enabled)`, `Running/ReadingSnapshot`, `LoadingState`. */
const toServerProjection = ({ name, status, stateReason }: ProjectionDetails): ServerProjection => {
  if (status.startsWith("Faulted")) return { name, state: "faulted", reason: stateReason };
  if (status.startsWith("Running")) return { name, state: "running" };
  return { name, state: status.startsWith("Stopped") ? "stopped" : "changing" };
};
