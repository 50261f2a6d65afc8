import type { CatalogState } from "../../../projections/catalog.ts";
import type { View } from "../../../projections/runner/view.ts";
import { catalogStream } from "../../domain/catalog/catalog.ts";
import type { ReportedVoice } from "../../domain/catalog/event-shapes.ts";
import { indexByOwnName, isNative, isSameVoice } from "../../domain/catalog/native-voice.ts";
import {
  majorVersionOrZero,
  normalizeVoice,
  platformDecider,
  platformStream,
  reportVoices,
} from "../../domain/catalog/platform.ts";
import { findBrowser, findOperatingSystem } from "../../domain/catalog/platform-names.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { ExecuteCommand } from "../execute-command.ts";
import { catalogIndexOf } from "./catalog-index-of.ts";

/** A browser's report of its platform and voices. */
export interface VoiceReport {
  readonly platform: {
    readonly browser: string;
    readonly browserVersion: string;
    readonly os: string;
    readonly osVersion: string;
  };
  readonly voices: readonly ReportedVoice[];
}

/**
 * Records what is new in a report; the views show it once this resolves. Reports of unknown
 * platforms are ignored.
 * @throws {Unavailable}
 */
export type ReportVoices = (report: VoiceReport) => Promise<void>;

export const createVoiceReports =
  ({
    execute,
    catalog,
    clock,
  }: {
    execute: ExecuteCommand;
    catalog: View<CatalogState>;
    clock: () => EpochMs;
  }): ReportVoices =>
  async ({ platform, voices }) => {
    const [browser, os] = [findBrowser(platform.browser), findOperatingSystem(platform.os)];
    const plausible = voices.flatMap((voice) => normalizeVoice(voice) ?? []);
    if (!browser || !os || plausible.length === 0) return;
    const state = catalog.get(catalogStream);
    const natives = indexByOwnName(state ? catalogIndexOf(state).systemVoices.filter(isNative) : []);
    const report = {
      browserVersion: majorVersionOrZero(platform.browserVersion),
      osVersion: majorVersionOrZero(platform.osVersion),
      voices: plausible,
      isInCatalog: (voice: ReportedVoice) => natives(voice.name).some((native) => isSameVoice(native, voice)),
      at: new Date(clock()).toISOString(),
    };
    // The event has no key and no request id: it says what a platform has, not who reported it.
    await execute(platformDecider, platformStream(browser, os), (known) => reportVoices(known, report), {
      actor: "system",
    });
  };
