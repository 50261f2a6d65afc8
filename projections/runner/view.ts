import type { RunningProjection } from "./running-projection.ts";

/**
 * A projection's states by partition.
 * @throws {Unavailable} from every method if the projection has failed or lags too far behind the
 * log
 */
export interface View<S> {
  get(partition: string): S | undefined;
  entries(): Iterable<[string, S]>;
  readonly size: number;
}

/** A view of a projection whose runner has started. */
export interface LiveView<S> extends View<S> {
  /**
   * Grows with each event that changes a state. As long as it stays the same, values that were
   * derived from the states are valid.
   */
  readonly changes: number;
}

/** `assertCurrent`: called before each response; it throws if the projection must not be asked. */
export const createView = <S>(running: RunningProjection, assertCurrent: () => void): LiveView<S> => ({
  get: (name) => {
    assertCurrent();
    return running.partitions.get(name)?.state as S | undefined;
  },
  entries: () => {
    assertCurrent();
    return Iterator.from(running.partitions).map(([name, { state }]) => [name, state as S]);
  },
  get size() {
    assertCurrent();
    return running.partitions.size;
  },
  get changes() {
    assertCurrent();
    return running.changes;
  },
});
