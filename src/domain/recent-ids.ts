/** Successive lists share this. Only the latest of them adds to it. */
interface Shared {
  readonly ids: string[];
  /** The last index of each id. */
  readonly indexes: Map<string, number>;
}

/**
 * An immutable list of the last ids, for folds. Adding to the latest list of a fold, and searching
 * it, take constant time. An earlier list, as after a conflict, is copied by the next change.
 */
export class RecentIds {
  readonly #shared: Shared;
  readonly #end: number;

  private constructor(shared: Shared, end: number) {
    this.#shared = shared;
    this.#end = end;
  }

  static of(ids: readonly string[]): RecentIds {
    const indexes = new Map(ids.map((id, index) => [id, index]));
    return new RecentIds({ ids: [...ids], indexes }, ids.length);
  }

  has(id: string): boolean {
    if (!this.#isLatest) return this.values().includes(id);
    return (this.#shared.indexes.get(id) ?? -1) >= this.#begin;
  }

  with(id: string): RecentIds {
    const { ids, indexes } = this.#shared;
    if (!this.#isLatest || ids.length >= 2 * maxIds) return RecentIds.of(this.values()).with(id);
    indexes.set(id, ids.push(id) - 1);
    return new RecentIds(this.#shared, ids.length);
  }

  /** Lists the ids, the latest one last. */
  values(): string[] {
    return this.#shared.ids.slice(this.#begin, this.#end);
  }

  get #isLatest(): boolean {
    return this.#end === this.#shared.ids.length;
  }

  get #begin(): number {
    return Math.max(0, this.#end - maxIds);
  }
}

const maxIds = 1_000;
