import {
  isCaughtUp,
  type ProjectionServer,
  type ServerProjection,
} from "../../eventstore/projection-server.ts";

/** What a server reports of a projection of this release. */
export interface UserProjectionStatus extends Omit<ServerProjection, "state" | "mayRecover"> {
  readonly state: ServerProjection["state"] | "absent";
}

/** True if the projection runs and has read the log. */
export const isComplete = ({ state, ...projection }: UserProjectionStatus): boolean =>
  state !== "absent" && isCaughtUp({ ...projection, state });

/** @throws {EventStoreUnavailable} */
export const readUserProjectionStatuses = async (
  server: Pick<ProjectionServer, "find">,
  names: readonly string[],
): Promise<UserProjectionStatus[]> => {
  const statuses: UserProjectionStatus[] = [];
  for (const name of names) {
    const { mayRecover: _, ...status } = (await server.find(name)) ?? { name, state: "absent" as const };
    statuses.push(status);
  }
  return statuses;
};
