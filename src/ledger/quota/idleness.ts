/**
 * A reservation is returned when it was idle for 1, then 4, 16 and 64 minutes, then 4, 17, 68 and
 * 273 hours: at most eight times a month.
 */
const factorPerReturn = 4;
const maxReturns = 8;

/** Counts the checks since characters of a reservation were last spent or requested. */
export class Idleness {
  #spentBefore = Number.NaN;
  #checks = 0;

  reset(): void {
    this.#checks = 0;
  }

  check(spent: number): void {
    this.#checks = spent === this.#spentBefore ? this.#checks + 1 : 0;
    this.#spentBefore = spent;
  }

  /** True after `checks` idle checks in a row. Each earlier return makes it four times as many. */
  hasLasted(checks: number, idleReturns: number): boolean {
    return this.#checks >= checks * factorPerReturn ** Math.min(idleReturns, maxReturns);
  }
}
