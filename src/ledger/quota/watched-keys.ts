import type { QuotaThresholdCrossed } from "../../domain/ledger/accounts/usage-account.ts";

/** The counted and the read usage of a key's month. */
export interface WatchedKey {
  counted: number;
  /** The check after which it was counted last. */
  check: number;
  /** `counted` at that check, and at the one before. */
  atCheck: number;
  beforeCheck: number;
  /** Added to `counted`, it is at least the key's usage. Undefined before the first read. */
  base: number | undefined;
  /** Is undefined if the account was not read. */
  crossed: readonly QuotaThresholdCrossed[] | undefined;
}

/**
 * Counts the characters that keys are charged in the latest month. A read does not show what was
 * counted shortly before it, so counts are kept as of the last two checks.
 */
export class WatchedKeys {
  #keys = new Map<string, WatchedKey>();
  #month = "";
  #checks = 0;

  /**
   * Begins a check: usage that is read from now on includes what was counted before the last one.
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
    if (watched.check !== this.#checks) {
      watched.beforeCheck = watched.check === this.#checks - 1 ? watched.atCheck : watched.counted;
      watched.atCheck = watched.counted;
      watched.check = this.#checks;
    }
    watched.counted += characters;
    return watched;
  }

  /** Watches the key from now on; in an earlier month only for the moment. */
  watch(apiKey: string, month: string): WatchedKey {
    const known = this.isLatest(month) ? this.#keys.get(apiKey) : undefined;
    if (known) return known;
    const check = this.#checks;
    const watched = { counted: 0, check, atCheck: 0, beforeCheck: 0, base: undefined, crossed: undefined };
    if (this.isLatest(month)) this.#keys.set(apiKey, watched);
    return watched;
  }

  /** Notes an upper bound of the key's usage that was read in the current check. */
  noteRead(watched: WatchedKey, characters: number): void {
    watched.base = characters - this.#countedBefore(watched);
  }

  /** The characters that were counted up to the check before the last one. */
  #countedBefore({ counted, check, atCheck, beforeCheck }: WatchedKey): number {
    if (check === this.#checks) return beforeCheck;
    return check === this.#checks - 1 ? atCheck : counted;
  }
}
