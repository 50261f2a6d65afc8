import type { JournalEvent, SynthesesServed } from "./journal.ts";
import type { VoidedServing } from "./serving.ts";

/** A serving adds a charge to a key's usage; a void takes it back. */
export interface Charge {
  readonly apiKey: string;
  /** The time of the serving, ISO 8601, UTC. */
  readonly servedAt: string;
  readonly engine: string;
  /** Negative for a void; 0 for the void of a repeat, whose request counts. */
  readonly requests: number;
  /** Negative for a void. */
  readonly characters: number;
}

/** The charges of a journal's event, in order. */
export const chargesOf = ({ type, data }: JournalEvent): Charge[] => {
  if (type === "SynthesesServed") return servingCharges(data);
  return type === "ServingsVoided" ? data.servings.map(voidedCharge) : [];
};

export const voidedCharge = ({ apiKey, servedAt, engine, characters, reason }: VoidedServing): Charge => ({
  apiKey,
  servedAt,
  engine,
  requests: reason === "repeat" ? 0 : -1,
  characters: 0 - characters,
});

const servingCharges = ({ at, keys, sounds, key, sound, characters }: SynthesesServed): Charge[] =>
  key.map((index, n) => ({
    apiKey: keys[index] as string,
    servedAt: at,
    engine: sounds[sound[n] as number]?.engine as string,
    requests: 1,
    characters: characters[n] as number,
  }));
