/** A slot of a resource that a job uses later, if at all. */
export interface ReservedSlot {
  /** For the job that uses it: returns what releases the slot. */
  take(): () => void;
  /** Does nothing once a job has taken it. */
  release(): void;
}

/** `release`: what `acquire` of the resource resolved with. */
export const createReservedSlot = (release: () => void): ReservedSlot => {
  let isTaken = false;
  return {
    take: () => {
      isTaken = true;
      return release;
    },
    release: () => {
      if (!isTaken) release();
    },
  };
};
