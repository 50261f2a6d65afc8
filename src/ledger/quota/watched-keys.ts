import type { QuotaThresholdCrossed } from "../../domain/ledger/accounts/usage-account.ts";

/** The counted and the read usage of a key's month. */
export interface WatchedKey {
  counted: number;
  /** The number of checks that had begun when characters were last counted. */
  lastCheck: number;
  /** `counted` when the last of these checks began, and when the one before it began. */
  countedAtCheck: number;
  countedAtPreviousCheck: number;
  /** `counted` plus this is at least the key's usage. Undefined before the first read. */
  base: number | undefined;
  /** Undefined if the account was not read. */
  crossed: readonly QuotaThresholdCrossed[] | undefined;
}

/**
 * Counts the characters that keys are charged in the latest month. A read may not show what was
 * counted shortly before it, so the counts at the last two checks are kept.
 */
export class WatchedKeys {
  #keys = new Map<string, WatchedKey>();
  #month = "";
  #checks = 0;

  /**
   * Begins a check. Usage that is read during it includes all that was counted before the previous
   * check began.
   */
  beginCheck(): void {
    this.#checks += 1;
  }

  isLatest(month: string): boolean {
    return month === this.#month;
  }

  /** Counts characters of a watched key. Undefined for any other key, and for an earlier month. */
  count(apiKey: string, month: string, characters: number): WatchedKey | undefined {
    if (month > this.#month) {
      this.#month = month;
      this.#keys = new Map();
    }
    const watched = this.isLatest(month) ? this.#keys.get(apiKey) : undefined;
    if (!watched) return undefined;
    if (watched.lastCheck !== this.#checks) {
      watched.countedAtPreviousCheck =
        watched.lastCheck === this.#checks - 1 ? watched.countedAtCheck : watched.counted;
      watched.countedAtCheck = watched.counted;
      watched.lastCheck = this.#checks;
    }
    watched.counted += characters;
    return watched;
  }

  /** Watches the key from now on. For an earlier month, returns a record that it does not keep. */
  watch(apiKey: string, month: string): WatchedKey {
    const known = this.isLatest(month) ? this.#keys.get(apiKey) : undefined;
    if (known) return known;
    const watched = {
      counted: 0,
      lastCheck: this.#checks,
      countedAtCheck: 0,
      countedAtPreviousCheck: 0,
      base: undefined,
      crossed: undefined,
    };
    if (this.isLatest(month)) this.#keys.set(apiKey, watched);
    return watched;
  }

  /** Notes an upper bound of the key's usage that was read in the current check. */
  noteRead(watched: WatchedKey, characters: number): void {
    watched.base = characters - this.#countedBefore(watched);
  }

  /** The characters that were counted up to the check before the last one. */
  #countedBefore({ counted, lastCheck, countedAtCheck, countedAtPreviousCheck }: WatchedKey): number {
    if (lastCheck === this.#checks) return countedAtPreviousCheck;
    return lastCheck === this.#checks - 1 ? countedAtCheck : counted;
  }
}
