/**
 * The first catalog id of each range of system voices; a range ends where the next one begins. Ids
 * are permanent: these never change, and a new range follows the last one. Lower ids are those of
 * the service's own voices.
 */
export const firstVoiceIds = {
  /** Native voices of browsers. */
  native: 10_000,
  /** Voices that operators add. */
  operator: 100_000,
  google: 1_000_000,
  azure: 2_000_000,
  openai: 3_000_000,
  selfHosted: 4_000_000,
  /** Models that operators placed on the machine. */
  models: 5_000_000,
  /** Natural voices that are installed beside the program. */
  natural: 6_000_000,
} as const;

/**
 * The size of these ranges: of each BYOK provider, of all self-hosted servers, and of all models.
 */
export const idsOfProvider = 1_000_000;
