import type { Reading, ReadingPlace } from "./reading.ts";

interface Remembered extends ReadingPlace {
  readonly key: string;
  readonly speed: number;
}

const storageKey = "voxledger-places";
const maxArticles = 50;
const saveEveryMs = 5_000;

/** A browser may refuse its storage, and anything may have changed what is in it. */
const load = (): Remembered[] => {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isRemembered) : [];
  } catch {
    return [];
  }
};

const save = (places: readonly Remembered[]): void => {
  try {
    localStorage.setItem(storageKey, JSON.stringify(places.slice(-maxArticles)));
  } catch {
    // full, or not allowed
  }
};

const isRemembered = (value: Partial<Remembered> | null): value is Remembered =>
  typeof value?.key === "string" &&
  [value.charIndex, value.seconds].every((one) => Number.isFinite(one) && Number(one) >= 0) &&
  Number(value.speed) >= 0.25 &&
  Number(value.speed) <= 4;

/**
 * Continues at the place and with the speed at which this article was left, and remembers both. The
 * key of an article is a hash of its address and its first paragraph; no text is stored.
 */
export const rememberPlace = (reading: Reading, signal: AbortSignal): (() => void) => {
  const address = `${location.pathname}${location.search}`;
  const key = hash(`${address}\n${reading.paragraphs[0]?.text ?? ""}`);
  const remembered = load().find((one) => one.key === key);
  if (remembered) {
    reading.setSpeed(remembered.speed);
    reading.goTo(remembered);
  }
  const current = (): Remembered => ({ key, ...reading.place, speed: reading.speed });
  let saved = JSON.stringify(current());
  let savedAt = Number.NEGATIVE_INFINITY;
  const remember = (): void => {
    const place = current();
    if (JSON.stringify(place) === saved) return;
    saved = JSON.stringify(place);
    savedAt = performance.now();
    const others = load().filter((one) => one.key !== key);
    save(place.charIndex === 0 && place.speed === 1 ? others : [...others, place]);
  };
  // A page that is closed or frozen gets no later event.
  document.addEventListener("visibilitychange", remember, { signal });
  return () => {
    if (reading.status !== "playing" || performance.now() - savedAt >= saveEveryMs) remember();
  };
};

/** cyrb53, a hash of 53 bits: it tells articles apart, and hides nothing. */
const hash = (text: string): string => {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return (4_294_967_296 * (2_097_151 & low) + (high >>> 0)).toString(36);
};
