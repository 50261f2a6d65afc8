export type ReservedSlot = ReturnType<typeof createReservedSlot>;

/**
 * A slot of a resource that a job uses later, if at all. `release`: what `acquire` of the resource
 * resolved with.
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
