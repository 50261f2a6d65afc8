/** The writes in progress: a store that closes waits for them. */
export class PendingWrites {
  readonly #writes = new Set<Promise<void>>();

  /** Returns the write itself. */
  add(write: Promise<void>): Promise<void> {
    const settled: Promise<void> = write.catch(() => undefined).then(() => void this.#writes.delete(settled));
    this.#writes.add(settled);
    return write;
  }

  /** Resolves when those that were added before have ended, in any way. */
  async settled(): Promise<void> {
    await Promise.all(this.#writes);
  }
}
