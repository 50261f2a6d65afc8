import type { CatalogState } from "../../../projections/catalog.ts";
import type { View } from "../../../projections/runner/view.ts";
import {
  addSystemVoice,
  addVoice,
  type Catalog,
  type CatalogEvent,
  type ChosenVoices,
  catalogDecider,
  catalogStream,
  changeVoice,
  chooseVoices,
  deprecateSystemVoice,
  deprecateVoice,
  nextSystemVoiceId,
} from "../../domain/catalog/catalog.ts";
import { installCommand, type VoiceChoice, voicesToChoose } from "../../domain/catalog/natural-voices.ts";
import type { CatalogVoices } from "../../domain/catalog/voice-names.ts";
import {
  systemVoice as systemVoiceSchema,
  voiceChange,
  voice as voiceSchema,
} from "../../domain/catalog/voice-schema.ts";
import { NotFound } from "../../domain/errors.ts";
import type { SystemVoice, Voice } from "../../domain/synthesis/speech.ts";
import type { EpochMs } from "../../domain/time.ts";
import { parse } from "../../domain/validation.ts";
import type { CommandContext, ExecuteCommand } from "../execute-command.ts";
import { catalogIndexOf } from "./catalog-index-of.ts";
import { type SpeakingVoice, speakingVoices } from "./speaking-voices.ts";

/** A new system voice: the catalog assigns the id and marks fallback voices. */
export const newSystemVoice = systemVoiceSchema.omit({ id: true, fallbackVoice: true });

interface CatalogServiceOptions {
  readonly execute: ExecuteCommand;
  readonly catalog: View<CatalogState>;
  /** Resolves with a function that is true for the natural voices that this machine can speak. */
  readonly findInstalled: () => Promise<(voiceName: string) => boolean>;
  readonly clock: () => EpochMs;
}

/** The choice of voices, which is the same on all instances. */
export interface VoiceChoiceStatus {
  readonly choice: VoiceChoice;
  /** The natural voices that speak, by `voiceName`. */
  readonly voices: readonly string[];
  /** The chosen voices that this machine cannot speak: their fallbacks speak. */
  readonly missing: readonly string[];
  /** Says what would make voices better. */
  readonly advice?: string;
}

export type CatalogService = ReturnType<typeof createCatalogService>;

/**
 * Creates the service that changes the shared catalog. The effect of a command is visible on this
 * instance when the command resolves. All commands may throw {Invalid} and {Unavailable}.
 */
export const createCatalogService = ({ execute, catalog, findInstalled, clock }: CatalogServiceOptions) => {
  const command = (
    decide: (catalog: Catalog, at: string) => CatalogEvent[],
    context: CommandContext,
  ): Promise<Catalog> => {
    const at = new Date(clock()).toISOString();
    return execute(catalogDecider, catalogStream, (state) => decide(state, at), context);
  };

  const list = (): CatalogVoices => {
    const state = catalog.get(catalogStream);
    return state ? catalogIndexOf(state) : { voices: [], systemVoices: [] };
  };

  return {
    /**
     * Lists the friendly voices of all websites, and the voices that speak them on this machine.
     */
    speakers: async (): Promise<readonly SpeakingVoice[]> => {
      const state = catalog.get(catalogStream);
      if (!state) return [];
      const isInstalled = await findInstalled();
      return speakingVoices(catalogIndexOf(state), { isInstalled, chosen: state.chosen?.voices ?? [] });
    },
    choice: async (): Promise<VoiceChoiceStatus> =>
      statusOf(catalog.get(catalogStream)?.chosen ?? undefined, await findInstalled()),
    /**
     * With `natural`, it chooses the default voices and all others that are installed on this
     * machine.
     */
    choose: async (choice: VoiceChoice, context: CommandContext): Promise<VoiceChoiceStatus> => {
      const isInstalled = await findInstalled();
      const voices = choice === "natural" ? voicesToChoose(isInstalled) : [];
      const { chosen } = await command((state, at) => chooseVoices(state, { choice, voices, at }), context);
      return statusOf(chosen, isInstalled);
    },
    /** Lists voices in the order in which they were added, and system voices by id. */
    list,
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
    /**
     * Changes the given members. `voiceIDs` that equal the shown ones change nothing, because the
     * natural voices among them follow from the choice.
     * @throws {NotFound}
     */
    changeVoice: async (name: string, given: unknown, context: CommandContext): Promise<Voice> => {
      const shown = list().voices.find((voice) => voice.name === name);
      const change = shown ? withoutShownIds(given, shown) : given;
      const { voices } = await command((state, at) => changeVoice(state, { name, change, at }), context);
      return required(voices.get(name));
    },
    /** @throws {NotFound} */
    deprecateVoice: async (name: string, context: CommandContext): Promise<Voice> => {
      const { voices } = await command((state, at) => deprecateVoice(state, { name, at }), context);
      return required(voices.get(name));
    },
    /**
     * Adds a system voice. One without a `service` is a native voice of browsers.
     * @throws {Conflict} when the name is taken
     */
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

const withoutShownIds = (given: unknown, shown: Voice): object => {
  const { voiceIDs, ...others } = parse(voiceChange, given);
  const isNew = voiceIDs !== undefined && voiceIDs.join() !== shown.voiceIDs.join();
  return isNew ? { ...others, voiceIDs } : others;
};

const statusOf = (
  chosen: ChosenVoices | undefined,
  isInstalled: (voiceName: string) => boolean,
): VoiceChoiceStatus => {
  const { choice, voices } = chosen ?? { choice: "classic", voices: [] };
  const missing = voices.filter((name) => !isInstalled(name));
  const advice =
    choice === "classic"
      ? "Natural voices: voxledger voices use natural"
      : missing.length > 0 && `Install natural voices: ${installCommand(missing)}`;
  return { choice, voices, missing, ...(advice && { advice }) };
};

/** @throws {NotFound} */
const required = <T>(voice: T | undefined): T => {
  if (voice === undefined) throw new NotFound("There is no voice of that name.");
  return voice;
};
