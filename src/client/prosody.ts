/** The prosody parameters, in the order in which they are always listed. */
export const prosodyParameters = ["pitch", "rate", "volume"] as const;
export type ProsodyParameter = (typeof prosodyParameters)[number];

/** pitch and rate: 0 to 2, 1 is normal; volume: 0 to 1, 1 is normal. */
export type Prosody = Readonly<Record<ProsodyParameter, number>>;

/** The part of the prosody that the player applies. */
export interface PlaybackProsody {
  readonly playbackRate: number;
  readonly volume: number;
}

/** Browsers mute audio at other playback rates. */
const minPlaybackRate = 0.25;
const maxPlaybackRate = 4;

/**
 * The prosody parameters that the service did not apply, and that a player can apply. Pitch is
 * never one of them: a player raises it only by playing faster.
 */
export const playbackProsody = (
  { rate, volume }: Prosody,
  applied: readonly ProsodyParameter[],
  fallback: boolean,
): PlaybackProsody => ({
  playbackRate:
    fallback && !applied.includes("rate") ? Math.min(Math.max(rate, minPlaybackRate), maxPlaybackRate) : 1,
  volume: fallback && !applied.includes("volume") ? volume : 1,
});

/**
 * Reads the `…-Prosody-Applied` header, whose prefix is the operator's choice. Unknown names are
 * ignored.
 */
export const appliedParameters = (headers: Headers): ProsodyParameter[] => {
  let names = "";
  headers.forEach((value, name) => {
    if (/-prosody-applied$/i.test(name)) names = value;
  });
  return parseProsodyParameters(names.split(",").map((name) => name.trim()));
};

export const parseProsodyParameters = (names: readonly unknown[]): ProsodyParameter[] =>
  prosodyParameters.filter((parameter) => names.includes(parameter));
