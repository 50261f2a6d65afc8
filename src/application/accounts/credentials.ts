import type { View } from "../../../projections/runner/runner.ts";
import { findWebsite } from "../../../projections/websites.ts";
import {
  type ByokEngine,
  byokEngines,
  type ProviderCredentials,
} from "../../domain/accounts/byok-providers.ts";
import {
  type Credentials,
  type CredentialsEvent,
  credentialsDecider,
  credentialsStream,
  type EngineCredentials,
  removeCredentials,
  resealCredentials,
  setCredentials,
  usableVoices,
  websiteOfCredentials,
} from "../../domain/accounts/credentials.ts";
import { masterKeyDecider, masterKeyStream, replaceMasterKey } from "../../domain/accounts/master-key.ts";
import {
  requireWebsite,
  type Website,
  websiteDecider,
  websiteStream,
} from "../../domain/accounts/website.ts";
import { NotFound } from "../../domain/errors.ts";
import type { CommandContext, Execute } from "../commands.ts";
import { listVoices, type Providers } from "./providers.ts";
import { type SealContext, type Sealing, UnsealFailed } from "./sealing.ts";

/** Credentials as their operator sees them: never what they are. */
export interface CredentialsDetails {
  readonly engine: ByokEngine;
  /** google, azure, openai. */
  readonly provider: string;
  /** How many voices the provider listed. */
  readonly voices: number;
  /** ISO 8601, UTC. */
  readonly setAt: string;
}

/** What became of all credentials that there are. */
export interface Resealing {
  /** Sealed anew, under the current key. */
  readonly resealed: number;
  /** Sealed under the current key already. */
  readonly current: number;
  /** Those that none of the keys opens. They are left as they are. */
  readonly unopened: readonly SealContext[];
}

/** Websites' own credentials. Every command is visible here once it resolves, and may throw {Unavailable}. */
export interface CredentialsService {
  /**
   * Proves the credentials by listing the provider's voices, then replaces what was set for the engine.
   * @throws {NotFound} for an unknown website, or an engine that is not provided here
   * @throws {Invalid} with the provider's own words when it refuses; nothing is stored
   */
  set<E extends ByokEngine>(
    websiteId: string,
    engine: E,
    credentials: ProviderCredentials[E],
    context: CommandContext,
  ): Promise<CredentialsDetails>;
  /** @throws {NotFound} also when there are none */
  remove(websiteId: string, engine: ByokEngine, context: CommandContext): Promise<void>;
  /** @throws {NotFound} for an unknown website */
  list(websiteId: string): CredentialsDetails[];
  /**
   * Seals under the current key everything that is sealed under an earlier one, and records that key as the log's. May be
   * repeated, and interrupted.
   */
  reseal(context: CommandContext): Promise<Resealing>;
}

export interface CredentialsServiceOptions {
  readonly execute: Execute;
  readonly websites: View<Website>;
  readonly credentials: View<Credentials>;
  readonly providers: Providers;
  /** Asked for when something is to be sealed or opened. */
  readonly sealing: () => Promise<Sealing>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** How long a provider may take to list its voices. Default 15 s. */
  readonly deadlineMs?: number;
}

export const createCredentialsService = ({
  execute,
  websites,
  credentials: view,
  providers,
  sealing,
  clock,
  deadlineMs = 15_000,
}: CredentialsServiceOptions): CredentialsService => {
  const now = (): string => new Date(clock()).toISOString();

  const command = (
    websiteId: string,
    decide: (credentials: Credentials) => CredentialsEvent[],
    context: CommandContext,
  ): Promise<Credentials> => execute(credentialsDecider, credentialsStream(websiteId), decide, context);

  const loadWebsite = (websiteId: string, context: CommandContext): Promise<Website> =>
    execute(websiteDecider, websiteStream(websiteId), requireWebsite, context);

  /** Whether it is under the current key now, by whomever. @throws {UnsealFailed} */
  const resealOne = async (place: SealContext, context: CommandContext): Promise<boolean> => {
    const was = view.get(credentialsStream(place.websiteId))?.byEngine[place.engine];
    const seals = await sealing();
    if (!was || was.keyId === seals.keyId) return false;
    const sealed = seals.seal(seals.open(was, place), place);
    const resealed = { engine: place.engine, was: was.sealed, ...sealed, at: now() };
    await command(place.websiteId, (state) => resealCredentials(state, resealed), context);
    return true;
  };

  return {
    set: async (websiteId, engine, given, context) => {
      await loadWebsite(websiteId, context);
      const provider = providers[engine];
      if (!provider) {
        throw new NotFound(`There is no provider for the engine ${engine}: it is not running here.`);
      }
      const { seal } = await sealing(); // a wrong master key is reported before the provider is asked
      const voices = usableVoices(await listVoices(provider, given, deadlineMs));
      const sealed = seal(JSON.stringify(given), { websiteId, engine });
      const at = now();
      const set = { engine, provider: provider.name, ...sealed, voices, at };
      await command(websiteId, (state) => setCredentials(state, set), context);
      return details(engine, { ...set, setAt: at });
    },
    remove: async (websiteId, engine, context) => {
      await loadWebsite(websiteId, context);
      await command(websiteId, (state) => removeCredentials(state, { engine, at: now() }), context);
    },
    list: (websiteId) => {
      if (!findWebsite(websites, websiteId)) throw new NotFound("There is no such website.");
      const { byEngine = {} } = view.get(credentialsStream(websiteId)) ?? {};
      return byokEngines.flatMap((engine) => {
        const set = byEngine[engine];
        return set ? details(engine, set) : [];
      });
    },
    reseal: async (context) => {
      const unopened: SealContext[] = [];
      let [resealed, current] = [0, 0];
      for (const place of sealContexts(view)) {
        try {
          if (await resealOne(place, context)) resealed++;
          else current++;
        } catch (error) {
          if (!(error instanceof UnsealFailed)) throw error;
          unopened.push(place);
        }
      }
      const { keyId } = await sealing();
      const replace = (recorded: string | undefined) => replaceMasterKey(recorded, keyId, now());
      await execute(masterKeyDecider, masterKeyStream, replace, context);
      return { resealed, current, unopened };
    },
  };
};

const details = (
  engine: ByokEngine,
  { provider, voices, setAt }: Pick<EngineCredentials, "provider" | "voices" | "setAt">,
): CredentialsDetails => ({ engine, provider, voices: voices.length, setAt });

const sealContexts = (view: View<Credentials>): SealContext[] =>
  Iterator.from(view.entries())
    .flatMap(([stream, { byEngine }]) =>
      byokEngines
        .filter((engine) => byEngine[engine])
        .map((engine) => ({ websiteId: websiteOfCredentials(stream), engine })),
    )
    .toArray();
