import { dirname } from "node:path";
import { type Settings, withSettingName } from "../../settings/read-settings.ts";
import { makePrivateDirectory } from "../private-directory.ts";

/**
 * Creates the folders of the data and of the embedded log, then opens the log's file. Resolves with
 * undefined if the log is elsewhere.
 * @throws {BadSetting}
 */
export const openEventLogFile = async <Opened>(
  { eventStore, dataDir }: Settings,
  open: (path: string) => Promise<Opened>,
): Promise<Opened | undefined> => {
  await withSettingName("DATA_DIR", makePrivateDirectory(dataDir));
  if (eventStore.kind !== "sqlite") return undefined;
  const { path } = eventStore;
  return await withSettingName(
    "EVENT_STORE",
    makePrivateDirectory(dirname(path)).then(() => open(path)),
  );
};
