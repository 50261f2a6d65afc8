import { userProjectionNames } from "../../../projections/eventstoredb/user-projections.ts";
import { type UserProjectionWatch, watchUserProjections } from "../../application/user-projections/watch.ts";
import { backgroundTime } from "../../async/time.ts";
import type { Runtime } from "../core.ts";
import { openProjectionServer } from "./open-event-store.ts";

/** Watches the user projections of an EventStoreDB server, in one process of a service. */
export const composeUserProjections = async ({
  settings,
  shared,
  resources,
}: Pick<Runtime, "settings" | "shared" | "resources">): Promise<UserProjectionWatch | undefined> => {
  if (settings.eventStore.kind !== "esdb" || !shared.isFirst) return undefined;
  const watch = watchUserProjections({
    server: await openProjectionServer(settings),
    names: userProjectionNames(settings.streamPrefix),
    time: backgroundTime,
  });
  resources.defer(watch.close);
  return watch;
};
