export type ReservedSlot = ReturnType<typeof createReservedSlot>;

/**
 * Creates a slot of a resource that a job may use later. `release`: the function with which
 * `acquire` of the resource resolved.
 */
export const createReservedSlot = (release: () => void) => {
  let isTaken = false;
  return {
    /** Gives the slot to the job that uses it. Returns the function that releases it. */
    take: (): (() => void) => {
      isTaken = true;
      return release;
    },
    /** Does nothing once a job has taken it. */
    release: (): void => {
      if (!isTaken) release();
    },
  };
};
