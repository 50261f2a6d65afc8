import type { CatalogState } from "../../../projections/catalog.ts";
import type { View } from "../../../projections/runner/view.ts";
import {
  addSystemVoice,
  addVoice,
  type Catalog,
  type CatalogEvent,
  catalogDecider,
  catalogStream,
  changeVoice,
  deprecateSystemVoice,
  deprecateVoice,
  nextSystemVoiceId,
} from "../../domain/catalog/catalog.ts";
import { systemVoice as systemVoiceSchema, voice as voiceSchema } from "../../domain/catalog/voice-schema.ts";
import { NotFound } from "../../domain/errors.ts";
import type { SystemVoice, Voice } from "../../domain/synthesis/speech.ts";
import { parse } from "../../domain/validation.ts";
import type { CommandContext, ExecuteCommand } from "../execute-command.ts";
import { catalogIndexOf } from "./catalog-index-of.ts";

/** A new system voice: the catalog assigns the id and marks fallback voices. */
export const newSystemVoice = systemVoiceSchema.omit({ id: true, fallbackVoice: true });

interface CatalogServiceOptions {
  readonly execute: ExecuteCommand;
  readonly catalog: View<CatalogState>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

export type CatalogService = ReturnType<typeof createCatalogService>;

/**
 * Administration of the shared catalog. A resolved command is visible on this instance. All may throw {Invalid} and
 * {Unavailable}.
 */
export const createCatalogService = ({ execute, catalog, clock }: CatalogServiceOptions) => {
  const command = (
    decide: (catalog: Catalog, at: string) => CatalogEvent[],
    context: CommandContext,
  ): Promise<Catalog> => {
    const at = new Date(clock()).toISOString();
    return execute(catalogDecider, catalogStream, (state) => decide(state, at), context);
  };

  return {
    /** In the order in which they were added; system voices by id. */
    list: (): { readonly voices: readonly Voice[]; readonly systemVoices: readonly SystemVoice[] } => {
      const state = catalog.get(catalogStream);
      return state ? catalogIndexOf(state) : { voices: [], systemVoices: [] };
    },
    /** @throws {NotFound} */
    voice: (name: string): Voice => {
      const state = catalog.get(catalogStream);
      return required(state && catalogIndexOf(state).voice(name));
    },
    /** @throws {Conflict} when the name is taken */
    addVoice: async (given: unknown, context: CommandContext): Promise<Voice> => {
      const voice = parse(voiceSchema, given);
      const { voices } = await command((state, at) => addVoice(state, { voice, at }), context);
      return required(voices.get(voice.name));
    },
    /** Changes the given members. @throws {NotFound} */
    changeVoice: async (name: string, change: unknown, context: CommandContext): Promise<Voice> => {
      const { voices } = await command((state, at) => changeVoice(state, { name, change, at }), context);
      return required(voices.get(name));
    },
    /** @throws {NotFound} */
    deprecateVoice: async (name: string, context: CommandContext): Promise<Voice> => {
      const { voices } = await command((state, at) => deprecateVoice(state, { name, at }), context);
      return required(voices.get(name));
    },
    /** Without a `service` it is a native voice of browsers. @throws {Conflict} when the name is taken */
    addSystemVoice: async (given: unknown, context: CommandContext): Promise<SystemVoice> => {
      const systemVoice = parse(newSystemVoice, given);
      const { systemVoices } = await command(
        (state, at) =>
          addSystemVoice(state, { systemVoice: { ...systemVoice, id: nextSystemVoiceId(state) }, at }),
        context,
      );
      const { name, service } = systemVoice;
      return required(systemVoices.values().find((one) => one.name === name && one.service === service));
    },
    /** @throws {NotFound} */
    deprecateSystemVoice: async (id: number, context: CommandContext): Promise<SystemVoice> => {
      const { systemVoices } = await command((state, at) => deprecateSystemVoice(state, { id, at }), context);
      return required(systemVoices.get(id));
    },
  };
};

/** @throws {NotFound} */
const required = <T>(voice: T | undefined): T => {
  if (voice === undefined) throw new NotFound("There is no voice of that name.");
  return voice;
};
