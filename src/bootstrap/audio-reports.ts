import { findKnownWebsite, websites } from "../../projections/websites.ts";
import { createAudioReports } from "../application/audio/audio-reports.ts";
import { createCountServings } from "../application/audio/audio-servings.ts";
import { createDeleteAudio, type DeleteAudio } from "../application/audio/delete-audio.ts";
import { createErasedAudio, type ErasedAudio } from "../application/audio/erased-audio.ts";
import { backgroundTime } from "../async/time.ts";
import { createCdnPurge } from "../audio/cdn-purge.ts";
import type { AudioStore } from "../audio/store/audio-store.ts";
import type { CommandHandler } from "../eventstore/command-handler.ts";
import type { EventStore } from "../eventstore/event-store.ts";
import { createReportQueue } from "../ledger/reports/report-queue.ts";
import type { Core, Runtime } from "./core.ts";

/**
 * Composes what operators can do with stored audio. `forget` is called with the hash of deleted
 * audio.
 */
export const composeAudioReports = (
  { settings, clock }: Pick<Runtime, "settings" | "clock">,
  {
    store,
    handler,
    requireRightClock,
  }: {
    readonly store: EventStore;
    readonly handler: CommandHandler;
    readonly requireRightClock: () => void;
  },
  openStore: () => Promise<AudioStore>,
  forget: (hash: string) => void = () => {},
) => {
  const purge = settings.purge && createCdnPurge(settings.purge);
  return {
    deleteAudio: createDeleteAudio({ handler, openStore, forget, purge, clock, requireRightClock }),
    audioReports: createAudioReports({
      audioStore: { stat: async (name, signal) => await (await openStore()).stat(name, signal) },
      countServings: createCountServings({ store, queue: createReportQueue(), clock }),
      purge,
    }),
  };
};

/** Composes the deletion of private audio that this process stores while its website is erased. */
export const composeErasedAudio = (
  { resources, shutdownTimeLeft, onError }: Pick<Runtime, "resources" | "shutdownTimeLeft" | "onError">,
  { runner, onErased }: Pick<Core, "runner" | "onErased">,
  { deleteAudio }: { readonly deleteAudio: DeleteAudio },
): ErasedAudio => {
  const shown = runner.lastKnownView(websites);
  const isErased = (id: string): boolean => findKnownWebsite(shown, id)?.status === "erased";
  const erasedAudio = createErasedAudio({ deleteAudio, isErased, time: backgroundTime, onError });
  onErased.push(erasedAudio.noteErased);
  resources.defer(() => erasedAudio.close(shutdownTimeLeft()));
  return erasedAudio;
};
