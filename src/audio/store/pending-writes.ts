/** The writes in progress: a store that closes waits for them. */
export class PendingWrites {
  readonly #writes = new Set<Promise<void>>();

  /** Returns the write itself. */
  add<T>(write: Promise<T>): Promise<T> {
    const end = () => void this.#writes.delete(settled);
    const settled: Promise<void> = write.then(end, end);
    this.#writes.add(settled);
    return write;
  }

  /** Resolves when the writes that were added before have ended, successfully or not. */
  async settled(): Promise<void> {
    await Promise.all(this.#writes);
  }
}
