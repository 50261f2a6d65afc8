import { Conflict, Invalid, NotFound } from "../errors.ts";
import { ImmutableMap } from "../immutable-map.ts";
import { never } from "../never.ts";
import type { EventOf } from "../shape.ts";
import type { SystemVoice, Voice } from "../synthesis/speech.ts";
import { firstVoiceIds } from "../synthesis/voice-ids.ts";
import { parse } from "../validation.ts";
import type { catalogShapes } from "./event-shapes.ts";
import { naturalVoices, type VoiceChoice } from "./natural-voices.ts";
import type { CatalogVoices } from "./voice-names.ts";
import { systemVoice as systemVoiceSchema, voiceChange, voice as voiceSchema } from "./voice-schema.ts";

/** The voices of all websites. Stream `catalog`. Times are ISO 8601, UTC. */
export type CatalogEvent = EventOf<typeof catalogShapes>;

export interface Catalog {
  readonly voices: ImmutableMap<string, Voice>;
  readonly systemVoices: ImmutableMap<number, SystemVoice>;
  /** Undefined if the installation is older than natural voices, or began without them. */
  readonly chosen: ChosenVoices | undefined;
}

export interface ChosenVoices {
  readonly choice: VoiceChoice;
  /** The natural voices that speak, by `voiceName`. */
  readonly voices: readonly string[];
}

export const catalogStream = "catalog";

/** Ids below are reserved for releases, so that new voices never collide with an operator's. */
export const firstOperatorId = firstVoiceIds.operator;

export const initialCatalog = (): Catalog => ({
  voices: new ImmutableMap(),
  systemVoices: new ImmutableMap(),
  chosen: undefined,
});

const evolveCatalog = (catalog: Catalog, event: CatalogEvent): Catalog => {
  switch (event.type) {
    case "SystemVoiceAdded":
      return withSystemVoice(catalog, event.data.systemVoice);
    case "SystemVoiceDeprecated": {
      const was = catalog.systemVoices.get(event.data.id);
      return was ? withSystemVoice(catalog, { ...was, deprecated: true }) : catalog;
    }
    case "VoiceAdded":
    case "VoiceChanged":
      return withVoice(catalog, event.data.voice);
    case "VoiceDeprecated": {
      const was = catalog.voices.get(event.data.name);
      return was ? withVoice(catalog, { ...was, deprecated: true }) : catalog;
    }
    case "VoicesChosen": {
      const { choice, voices } = event.data;
      return { ...catalog, chosen: { choice, voices } };
    }
    default:
      return never(event, catalog);
  }
};

export const catalogDecider = { initial: initialCatalog, evolve: evolveCatalog };

/**
 * @throws {Invalid}
 * @throws {Conflict} when the name is taken
 */
export const addVoice = (
  catalog: Catalog,
  { voice: given, at }: { voice: unknown; at: string },
): CatalogEvent[] => {
  const voice = parse(voiceSchema, given);
  if (catalog.voices.has(voice.name)) throw new Conflict(`There is a voice named ${voice.name} already.`);
  requireSystemVoices(catalog, voice.voiceIDs);
  return [{ type: "VoiceAdded", data: { voice, at } }];
};

/**
 * @throws {Invalid}
 * @throws {NotFound}
 */
export const changeVoice = (
  catalog: Catalog,
  { name, change: given, at }: { name: string; change: unknown; at: string },
): CatalogEvent[] => {
  const was = voiceNamed(catalog, name);
  const voice = parse(voiceSchema, { ...was, ...parse(voiceChange, given) });
  requireSystemVoices(catalog, voice.voiceIDs, was.voiceIDs);
  return sameVoice(was, voice) ? [] : [{ type: "VoiceChanged", data: { voice, at } }];
};

/**
 * A deprecated voice stays usable, so that no page falls silent.
 * @throws {NotFound}
 */
export const deprecateVoice = (
  catalog: Catalog,
  { name, at }: { name: string; at: string },
): CatalogEvent[] =>
  voiceNamed(catalog, name).deprecated ? [] : [{ type: "VoiceDeprecated", data: { name, at } }];

/**
 * The id must be an operator's: see `nextSystemVoiceId`. A voice with a `service` becomes a
 * fallback voice.
 * @throws {Invalid}
 * @throws {Conflict} when id or name is taken
 */
export const addSystemVoice = (
  catalog: Catalog,
  { systemVoice: given, at }: { systemVoice: unknown; at: string },
): CatalogEvent[] => {
  const systemVoice = parse(systemVoiceSchema, given);
  const { id, name, service } = systemVoice;
  if (id < firstOperatorId) {
    throw new Invalid([{ path: ["id"], message: `Ids below ${firstOperatorId} are reserved for releases.` }]);
  }
  if (catalog.systemVoices.has(id)) throw new Conflict(`There is a system voice ${id} already.`);
  for (const other of catalog.systemVoices.values()) {
    if (other.name === name && other.service === service) {
      throw new Conflict(`There is a system voice named ${name} already.`);
    }
  }
  const added = service === undefined ? systemVoice : { ...systemVoice, fallbackVoice: true };
  return [{ type: "SystemVoiceAdded", data: { systemVoice: added, at } }];
};

/**
 * Deprecates a system voice. Voices that list it still use it, but requests by language alone no
 * longer choose it.
 * @throws {NotFound}
 */
export const deprecateSystemVoice = (
  catalog: Catalog,
  { id, at }: { id: number; at: string },
): CatalogEvent[] => {
  const was = catalog.systemVoices.get(id);
  if (!was) throw new NotFound(`There is no system voice ${id}.`);
  return was.deprecated ? [] : [{ type: "SystemVoiceDeprecated", data: { id, at } }];
};

/** The first id that is free for an operator. */
export const nextSystemVoiceId = ({ systemVoices }: Catalog): number => {
  let id = firstOperatorId;
  while (systemVoices.has(id)) id++;
  return id;
};

/** Chooses the voices that speak on all instances. */
export const chooseVoices = (
  { chosen }: Catalog,
  { choice, voices, at }: ChosenVoices & { readonly at: string },
): CatalogEvent[] => {
  const isSame = choice === chosen?.choice && voices.join() === chosen.voices.join();
  return isSame ? [] : [{ type: "VoicesChosen", data: { choice, voices, at } }];
};

/**
 * Chooses the voices with which a new installation begins. Returns no event if the installation is
 * not new: it has a choice, or system voices.
 */
export const beginWith = (
  catalog: Catalog,
  chosen: ChosenVoices & { readonly at: string },
): CatalogEvent[] => {
  const isNew = catalog.chosen === undefined && catalog.systemVoices.entries.length === 0;
  return isNew ? chooseVoices(catalog, chosen) : [];
};

/** Adds the seed's missing voices. Existing ones are unchanged, including an operator's changes. */
export const seedCatalog = (catalog: Catalog, seed: CatalogVoices, at: string): CatalogEvent[] => [
  ...seed.systemVoices
    .filter(({ id }) => !catalog.systemVoices.has(id))
    .map((systemVoice): CatalogEvent => ({ type: "SystemVoiceAdded", data: { systemVoice, at } })),
  ...seed.voices
    .filter(({ name }) => !catalog.voices.has(name))
    .map((voice): CatalogEvent => ({ type: "VoiceAdded", data: { voice, at } })),
];

const withVoice = (catalog: Catalog, voice: Voice): Catalog => ({
  ...catalog,
  voices: catalog.voices.with(voice.name, voice),
});

const withSystemVoice = (catalog: Catalog, systemVoice: SystemVoice): Catalog => ({
  ...catalog,
  systemVoices: catalog.systemVoices.with(systemVoice.id, systemVoice),
});

const voiceNamed = (catalog: Catalog, name: string): Voice => {
  const voice = catalog.voices.get(name);
  if (!voice) throw new NotFound("There is no voice of that name.");
  return voice;
};

/** `had`: ids that the voice had before, such as the id of a natural voice that was chosen then. */
const requireSystemVoices = (
  { systemVoices, chosen }: Catalog,
  ids: readonly number[],
  had: readonly number[] = [],
): void => {
  const isChosen = (id: number): boolean =>
    naturalVoices.some((one) => one.id === id && chosen?.voices.includes(one.voiceName));
  const problems = ids.flatMap((id, index) =>
    systemVoices.has(id) || isChosen(id) || had.includes(id)
      ? []
      : [{ path: ["voiceIDs", index], message: `There is no system voice ${id}.` }],
  );
  if (problems.length > 0) throw new Invalid(problems);
};

const sameVoice = (a: Voice, b: Voice): boolean =>
  a.flag === b.flag &&
  a.gender === b.gender &&
  a.lang === b.lang &&
  (a.deprecated ?? false) === (b.deprecated ?? false) &&
  (a.isByok ?? false) === (b.isByok ?? false) &&
  a.provider === b.provider &&
  a.voiceIDs.join() === b.voiceIDs.join();
