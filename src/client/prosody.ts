/** The knobs, in the order in which they are always told. */
export const knobs = ["pitch", "rate", "volume"] as const;
export type Knob = (typeof knobs)[number];

/** pitch and rate: 0 to 2, 1 is normal; volume: 0 to 1, 1 is normal. */
export type Prosody = Readonly<Record<Knob, number>>;

/** What of the prosody is left to the player. */
export interface PlaybackProsody {
  readonly playbackRate: number;
  readonly volume: number;
}

/** Beyond these, browsers play in silence. */
const slowest = 0.25;
const fastest = 4;

/**
 * The knobs that the service did not apply, as a player can. Pitch is left out: a player can raise it only by playing
 * faster, and what the caller asked to be spoken higher would be spoken hastily.
 */
export const playbackProsody = (
  { rate, volume }: Prosody,
  applied: readonly Knob[],
  fallback: boolean,
): PlaybackProsody => ({
  playbackRate: fallback && !applied.includes("rate") ? Math.min(Math.max(rate, slowest), fastest) : 1,
  volume: fallback && !applied.includes("volume") ? volume : 1,
});

/** Reads the header that names the applied knobs, whatever its prefix; unknown tokens are ignored. */
export const appliedKnobs = (headers: Headers): Knob[] => {
  let value = "";
  headers.forEach((given, name) => {
    if (/-prosody-applied$/i.test(name)) value = given;
  });
  return parseKnobs(value.split(",").map((token) => token.trim()));
};

/** The knobs among these names, in their order. */
export const parseKnobs = (names: readonly unknown[]): Knob[] => knobs.filter((knob) => names.includes(knob));
