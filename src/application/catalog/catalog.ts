import { type CatalogState, catalogIndexOf } from "../../../projections/catalog.ts";
import type { View } from "../../../projections/runner/runner.ts";
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

/** A new system voice: the catalog assigns the id and marks fallback voices. */
export const newSystemVoice = systemVoiceSchema.omit({ id: true, fallbackVoice: true });

/**
 * Administration of the shared catalog. A resolved command is visible on this instance. All may throw {Invalid} and
 * {Unavailable}.
 */
export interface CatalogService {
  /** In the order in which they were added; system voices by id. */
  list(): { readonly voices: readonly Voice[]; readonly systemVoices: readonly SystemVoice[] };
  /** @throws {NotFound} */
  voice(name: string): Voice;
  /** @throws {Conflict} when the name is taken */
  addVoice(voice: unknown, context: CommandContext): Promise<Voice>;
  /** Changes the given members. @throws {NotFound} */
  changeVoice(name: string, change: unknown, context: CommandContext): Promise<Voice>;
  /** @throws {NotFound} */
  deprecateVoice(name: string, context: CommandContext): Promise<Voice>;
  /** Without a `service` it is a native voice of browsers. @throws {Conflict} when the name is taken */
  addSystemVoice(systemVoice: unknown, context: CommandContext): Promise<SystemVoice>;
  /** @throws {NotFound} */
  deprecateSystemVoice(id: number, context: CommandContext): Promise<SystemVoice>;
}

export const createCatalogService = ({
  execute,
  catalog,
  clock,
}: {
  execute: ExecuteCommand;
  catalog: View<CatalogState>;
  /** Milliseconds since the epoch. */
  clock: () => number;
}): CatalogService => {
  const command = (
    decide: (catalog: Catalog, at: string) => CatalogEvent[],
    context: CommandContext,
  ): Promise<Catalog> => {
    const at = new Date(clock()).toISOString();
    return execute(catalogDecider, catalogStream, (state) => decide(state, at), context);
  };

  return {
    list: () => {
      const state = catalog.get(catalogStream);
      return state ? catalogIndexOf(state) : { voices: [], systemVoices: [] };
    },
    voice: (name) => {
      const state = catalog.get(catalogStream);
      return required(state && catalogIndexOf(state).voice(name));
    },
    addVoice: async (given, context) => {
      const voice = parse(voiceSchema, given);
      const { voices } = await command((state, at) => addVoice(state, { voice, at }), context);
      return required(voices.get(voice.name));
    },
    changeVoice: async (name, change, context) => {
      const { voices } = await command((state, at) => changeVoice(state, { name, change, at }), context);
      return required(voices.get(name));
    },
    deprecateVoice: async (name, context) => {
      const { voices } = await command((state, at) => deprecateVoice(state, { name, at }), context);
      return required(voices.get(name));
    },
    addSystemVoice: async (given, context) => {
      const systemVoice = parse(newSystemVoice, given);
      const { systemVoices } = await command(
        (state, at) =>
          addSystemVoice(state, { systemVoice: { ...systemVoice, id: nextSystemVoiceId(state) }, at }),
        context,
      );
      const { name, service } = systemVoice;
      return required([...systemVoices.values()].find((one) => one.name === name && one.service === service));
    },
    deprecateSystemVoice: async (id, context) => {
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
