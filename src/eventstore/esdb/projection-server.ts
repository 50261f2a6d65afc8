import type { EventStoreDBClient, ProjectionDetails } from "@eventstore/db-client";
import { EventStoreUnavailable } from "../event-store.ts";
import type { ProjectionServer, ServerProjection } from "../projection-server.ts";
import { isUnimplemented, unavailable } from "./failures.ts";
import { keepClient } from "./kept-client.ts";

export interface EsdbProjectionServerOptions {
  /** EventStoreDB's connection string; its user must be of the server's `$ops` or `$admins`. */
  readonly url: string;
  /** How long each call may take: the server compiles what it is given. Default 10,000. */
  readonly timeoutMs?: number;
}

/** @throws {TypeError} when the connection string cannot be used; nothing of it is repeated */
export const openEsdbProjectionServer = (options: EsdbProjectionServerOptions): ProjectionServer => {
  const { url, timeoutMs = 10_000 } = options;
  const kept = keepClient(url);

  const ask = async <T>(action: (client: EventStoreDBClient) => Promise<T>): Promise<T> => {
    try {
      return await kept.call(timeoutMs, action);
    } catch (error) {
      if (!isUnimplemented(error)) throw unavailable(error);
      throw new EventStoreUnavailable("the server runs no projections (its setting RunProjections)");
    }
  };

  return {
    list: async () => (await ask((client) => client.listProjections())).map(toPort),
    create: (name, query) => ask((client) => client.createProjection(name, query)),
    update: (name, query) => ask((client) => client.updateProjection(name, query)),
    enable: (name) => ask((client) => client.enableProjection(name)),
    disable: (name) => ask((client) => client.disableProjection(name)),
    close: () => kept.close(),
  };
};

/** The status has words of its own for each step: `Faulted (Enabled)`, `Running/ReadingSnapshot`, `LoadingState`. */
const toPort = ({ name, status, stateReason }: ProjectionDetails): ServerProjection => {
  if (status.startsWith("Faulted")) return { name, state: "faulted", reason: stateReason };
  if (status.startsWith("Running")) return { name, state: "running" };
  return { name, state: status.startsWith("Stopped") ? "stopped" : "passing" };
};
