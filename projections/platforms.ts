import { isSameVoice, ownName } from "../src/domain/catalog/native-voice.ts";
import {
  type KnownVoice,
  type Platform,
  platformDecider,
  platformStream,
} from "../src/domain/catalog/platform.ts";
import { browsers, operatingSystems, type PlatformQuery } from "../src/domain/catalog/platform-names.ts";
import type { SystemVoice } from "../src/domain/synthesis/speech.ts";
import { streamProjection } from "./projection.ts";
import type { View } from "./runner/view.ts";

/** The voices that browsers were reported to have. Partition: `platform-{browser}-{os}`. */
export const platforms = streamProjection("platforms", 2, "platform-", platformDecider);

/**
 * True if the native voice was reported for a matching platform, in this version or an earlier one.
 */
export const isVoiceReported = (view: View<Platform>, query: PlatformQuery, voice: SystemVoice): boolean =>
  streamsOf(query).some((stream) => {
    const platform = view.get(stream);
    return platform && byOwnName(platform).get(ownName(voice.name))?.some(matches(query, voice));
  });

const matches =
  (query: PlatformQuery, voice: SystemVoice) =>
  (known: KnownVoice): boolean =>
    isSameVoice(voice, known) &&
    known.browserVersion <= (query.browserVersion ?? known.browserVersion) &&
    known.osVersion <= (query.osVersion ?? known.osVersion);

const streamsOf = ({ browser, os }: PlatformQuery): string[] =>
  browsers
    .filter((one) => browser === undefined || one === browser)
    .flatMap((one) =>
      operatingSystems
        .filter((other) => os === undefined || other === os)
        .map((other) => platformStream(one, other)),
    );

const indexes = new WeakMap<Platform, ReadonlyMap<string, readonly KnownVoice[]>>();

/** The state of a platform is immutable, so its index stays valid. */
const byOwnName = (platform: Platform): ReadonlyMap<string, readonly KnownVoice[]> => {
  const known = indexes.get(platform);
  if (known) return known;
  const index = Map.groupBy(Object.values(platform.voices), ({ name }) => name);
  indexes.set(platform, index);
  return index;
};
