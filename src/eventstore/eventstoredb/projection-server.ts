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

export interface ProjectionServerOptions {
  /** EventStoreDB's connection string; its user must be of the server's `$ops` or `$admins`. */
  readonly url: string;
  /** How long each call may take: the server compiles what it is given. Default 10,000. */
  readonly timeoutMs?: number;
}

/** @throws {TypeError} when the connection string cannot be used; nothing of it is repeated */
export const openProjectionServer = (options: ProjectionServerOptions): ProjectionServer => {
  const { url, timeoutMs = 10_000 } = options;
  const kept = createReconnectingClient(url);

  const ask = async <T>(action: (client: EventStoreDBClient) => Promise<T>): Promise<T> => {
    try {
      return await kept.call(timeoutMs, action);
    } catch (error) {
      throw toPortError(error);
    }
  };

  return {
    find: (name) => ask((client) => statusOf(client, name)),
    create: (name, query) => ask((client) => client.createProjection(name, query)),
    update: (name, query) => ask((client) => client.updateProjection(name, query)),
    enable: (name) => ask((client) => client.enableProjection(name)),
    disable: (name) => ask((client) => client.disableProjection(name)),
    close: () => kept.close(),
  };
};

/**
 * Until 24.6 a server answers UNKNOWN, `… received NotFound instead`, for a name that it does not have, and every server
 * answers UNKNOWN for a projection whose script has a syntax error.
 */
const statusOf = async (client: EventStoreDBClient, name: string): Promise<ServerProjection | undefined> => {
  try {
    const details: ProjectionDetails | undefined = await client.getProjectionStatus(name);
    return details && toPort(details);
  } catch (error) {
    const answer = unknownErrorMessage(error);
    if (isNotFound(error) || answer?.includes("NotFound")) return undefined;
    if (answer === undefined || isNotAuthorized(error)) throw error;
    const reason = `the server cannot tell its status, as for a script with a syntax error (code 2: ${answer})`;
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
  const answer = unknownErrorMessage(error);
  if (answer === undefined) return toUnavailable(error);
  return new EventStoreUnavailable(`the server answered with an error (code 2): ${answer}`);
};

/** The status has words of its own for each step: `Faulted (Enabled)`, `Running/ReadingSnapshot`, `LoadingState`. */
const toPort = ({ name, status, stateReason }: ProjectionDetails): ServerProjection => {
  if (status.startsWith("Faulted")) return { name, state: "faulted", reason: stateReason };
  if (status.startsWith("Running")) return { name, state: "running" };
  return { name, state: status.startsWith("Stopped") ? "stopped" : "passing" };
};
