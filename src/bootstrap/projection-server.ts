import type { ProjectionServer } from "../eventstore/projection-server.ts";
import { BadSetting, type Settings, withSettingName } from "../settings.ts";

/** The server behind EVENT_STORE, for its own projections. @throws {BadSetting} */
export const openProjectionServer = ({ eventStore }: Settings): Promise<ProjectionServer> => {
  if (eventStore.kind !== "esdb")
    throw new BadSetting("EVENT_STORE: only EventStoreDB runs projections of its own");
  const open = async (): Promise<ProjectionServer> => {
    const { openProjectionServer } = await import("../eventstore/eventstoredb/projection-server.ts");
    return openProjectionServer(eventStore.url);
  };
  return withSettingName("EVENT_STORE", open());
};
