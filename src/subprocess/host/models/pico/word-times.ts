import type { PhoneItem } from "./phone-items.ts";

/**
 * Returns, for each mark, the frame at which the word after it begins in the same speech without
 * marks. The audio is spoken without marks, because they change some sounds at the borders of
 * words. The phones of both are matched by their longest common subsequence.
 */
export const wordFrames = (
  spoken: readonly PhoneItem[],
  marked: readonly PhoneItem[],
): Map<number, number> => {
  const phones = spoken.filter((item) => item.kind === "phone");
  const others = marked.filter((item) => item.kind === "phone");
  const starts = startsOf(phones.map(({ frames }) => frames));
  const places = matched(
    others.map(({ phone }) => phone),
    phones.map(({ phone }) => phone),
  );
  /** The phone of silence, with which every text begins. */
  const silence = phones[0]?.phone;
  const found = new Map<number, number>();
  let before = 0;
  for (const item of marked) {
    if (item.kind === "phone") {
      before++;
      continue;
    }
    let place = places[before] ?? phones.length;
    while (place < phones.length - 1 && phones[place]?.phone === silence) place++;
    found.set(item.index, starts[place] ?? 0);
  }
  return found;
};

const startsOf = (lengths: readonly number[]): number[] => {
  let end = 0;
  return [0].concat(lengths.map((length) => (end += length)));
};

/**
 * Returns for each value the place of its match in `others`. For a value without a match it is the
 * place after the previous match.
 */
const matched = (values: readonly number[], others: readonly number[]): number[] => {
  const width = others.length + 1;
  /**
   * For each pair of places, the length of the longest common subsequence of the values from them
   * on.
   */
  const longest = new Uint16Array((values.length + 1) * width);
  for (let at = values.length - 1; at >= 0; at--) {
    for (let other = others.length - 1; other >= 0; other--) {
      const place = at * width + other;
      longest[place] =
        values[at] === others[other]
          ? 1 + (longest[place + width + 1] ?? 0)
          : Math.max(longest[place + width] ?? 0, longest[place + 1] ?? 0);
    }
  }
  const places: number[] = [];
  let other = 0;
  for (let at = 0; at < values.length; at++) {
    let same = other;
    while (same < others.length && !isLongest(at, same)) same++;
    const isMatched = same < others.length;
    places.push(isMatched ? same : other);
    if (isMatched) other = same + 1;
  }
  return places;

  function isLongest(at: number, place: number): boolean {
    const most = longest[at * width + other] ?? 0;
    return values[at] === others[place] && most === 1 + (longest[(at + 1) * width + place + 1] ?? 0);
  }
};
