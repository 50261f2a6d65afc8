import { NumberPerKey, PerKey } from "../../domain/accounts/key-numbers.ts";
import { Tally } from "./key-reservation.ts";

/**
 * A journal's tallies by month and key. Those of the latest month are kept as long as the journal
 * lives, because each reservation states the journal's total. Earlier ones are kept until their
 * reservations are returned.
 */
export class Tallies {
  #month = "";
  #tallies = new PerKey<Tally>();
  /**
   * The characters that keys spent in the latest month before they had a tally. Keys without a
   * quota need no tally.
   */
  #spent = new NumberPerKey();
  readonly #past = new Map<string, Map<number, Tally>>();

  find(keyNumber: number, month: string): Tally | undefined {
    return this.#of(month)?.get(keyNumber);
  }

  findOrAdd(keyNumber: number, month: string): Tally {
    if (month > this.#month) this.#begin(month);
    const known = this.find(keyNumber, month);
    if (known) return known;
    const tally = new Tally();
    if (month === this.#month) {
      tally.spent = this.#spent.get(keyNumber);
      this.#tallies.set(keyNumber, tally);
    } else this.#past.set(month, (this.#past.get(month) ?? new Map()).set(keyNumber, tally));
    return tally;
  }

  /** Counts characters of a key without a quota. */
  spend(keyNumber: number, month: string, characters: number): void {
    if (month > this.#month) this.#begin(month);
    const tally = month === this.#month ? this.#tallies.get(keyNumber) : this.findOrAdd(keyNumber, month);
    if (tally) tally.spent += characters;
    else this.#spent.add(keyNumber, characters);
  }

  /** True if the journal may have spent characters of the key in the month. */
  hasSpent(keyNumber: number, month: string): boolean {
    if (this.find(keyNumber, month)) return true;
    return month === this.#month && this.#spent.get(keyNumber) !== 0;
  }

  /** Ends a key's reservation, and forgets the tally of a past month. */
  release(keyNumber: number, month: string): void {
    const tally = this.find(keyNumber, month);
    if (tally) tally.reservation = undefined;
    if (month === this.#month) return;
    const past = this.#past.get(month);
    past?.delete(keyNumber);
    if (past?.size === 0) this.#past.delete(month);
  }

  /** Returns false if the key's tally of a past month is forgotten. */
  isKept(keyNumber: number, month: string): boolean {
    return month >= this.#month || this.find(keyNumber, month) !== undefined;
  }

  isPast(month: string): boolean {
    return month < this.#month;
  }

  #of(month: string): PerKey<Tally> | Map<number, Tally> | undefined {
    return month === this.#month ? this.#tallies : this.#past.get(month);
  }

  #begin(month: string): void {
    const open = new Map<number, Tally>();
    for (const tally of this.#tallies) if (tally.reservation) open.set(tally.reservation.keyNumber, tally);
    if (open.size > 0) this.#past.set(this.#month, open);
    this.#month = month;
    this.#tallies = new PerKey();
    this.#spent = new NumberPerKey();
  }
}
