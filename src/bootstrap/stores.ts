import { dirname } from "node:path";
import type { AudioStore } from "../audio/store/audio-store.ts";
import { openFilesystemAudioStore } from "../audio/store/filesystem/filesystem-audio-store.ts";
import type { EventStore } from "../eventstore/event-store.ts";
import { openSqliteEventStore } from "../eventstore/sqlite/sqlite-event-store.ts";
import { type Settings, withSettingName } from "../settings.ts";
import { makePrivateDirectory } from "./private-directory.ts";

// Drivers whose clients are large are imported where they are configured.

/** The log that EVENT_STORE names. @throws {BadSetting} */
export const openEventStore = (
  { eventStore: place }: Settings,
  { readOnly }: { readonly readOnly: boolean },
): Promise<EventStore> => {
  const open = async (): Promise<EventStore> => {
    if (place.kind === "esdb") {
      const { openEventStoreDB } = await import("../eventstore/eventstoredb/eventstoredb-event-store.ts");
      return await openEventStoreDB({ url: place.url, readOnly });
    }
    if (!readOnly) await makePrivateDirectory(dirname(place.path));
    return await openSqliteEventStore({ path: place.path, readOnly });
  };
  return withSettingName("EVENT_STORE", open());
};

/** The store that AUDIO_STORE names. @throws {BadSetting} */
export const openAudioStore = (
  { audioStore: place }: Settings,
  { warn }: { readonly warn: (sentence: string) => void },
): Promise<AudioStore> => {
  const open = async (): Promise<AudioStore> => {
    if (place.kind === "s3") {
      const { openS3AudioStore } = await import("../audio/store/s3/s3-audio-store.ts");
      return await openS3AudioStore({ ...place, warn });
    }
    await makePrivateDirectory(place.path);
    return openFilesystemAudioStore(place);
  };
  return withSettingName("AUDIO_STORE", open());
};
