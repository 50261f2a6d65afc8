import { Tally } from "./key-reservation.ts";

/**
 * A journal's tallies by month and key. Those of the latest month are kept as long as the journal lives, because its next
 * reservation states its absolute total. Earlier ones are kept until their reservations are returned.
 */
export class Tallies {
  #month = "";
  #tallies = new Map<string, Tally>();
  readonly #past = new Map<string, Map<string, Tally>>();

  find(apiKey: string, month: string): Tally | undefined {
    return this.#of(month)?.get(apiKey);
  }

  /** Finds or adds. */
  findOrAdd(apiKey: string, month: string): Tally {
    if (month > this.#month) this.#begin(month);
    const tallies = this.#of(month) ?? new Map<string, Tally>();
    if (month !== this.#month) this.#past.set(month, tallies);
    const known = tallies.get(apiKey);
    if (known) return known;
    const tally = new Tally();
    tallies.set(apiKey, tally);
    return tally;
  }

  /** Ends a key's reservation, and forgets the tally of a past month. */
  release(apiKey: string, month: string): void {
    const tallies = this.#of(month);
    const tally = tallies?.get(apiKey);
    if (tally) tally.reservation = undefined;
    if (month === this.#month) return;
    tallies?.delete(apiKey);
    if (tallies?.size === 0) this.#past.delete(month);
  }

  /** False if the key's tally of a past month is forgotten. */
  isKept(apiKey: string, month: string): boolean {
    return month >= this.#month || this.find(apiKey, month) !== undefined;
  }

  isPast(month: string): boolean {
    return month < this.#month;
  }

  #of(month: string): Map<string, Tally> | undefined {
    return month === this.#month ? this.#tallies : this.#past.get(month);
  }

  #begin(month: string): void {
    const open = new Map<string, Tally>();
    for (const [apiKey, tally] of this.#tallies) if (tally.reservation) open.set(apiKey, tally);
    if (open.size > 0) this.#past.set(this.#month, open);
    this.#month = month;
    this.#tallies = new Map();
  }
}
