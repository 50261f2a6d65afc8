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

/** A description of credentials, without their values. */
export interface CredentialsDetails {
  readonly engine: ByokEngine;
  /** google, azure, openai. */
  readonly provider: string;
  /** How many voices the provider listed. */
  readonly voices: number;
  /** ISO 8601, UTC. */
  readonly setAt: string;
}

/** The result of resealing all credentials. */
export interface Resealing {
  /** Sealed again under the current key. */
  readonly resealed: number;
  /** Sealed under the current key already. */
  readonly current: number;
  /** Those that no key opens. They are unchanged. */
  readonly unopened: readonly SealContext[];
}

/** BYOK credentials of websites. A resolved command is visible on this instance. All may throw {Unavailable}. */
export interface CredentialsService {
  /**
   * Verifies the credentials by listing the provider's voices, then replaces the engine's credentials.
   * @throws {NotFound} for an unknown website, or an engine that is not provided here
   * @throws {Invalid} with the provider's message when it refuses them; nothing is stored
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
   * Seals all credentials under the current key, and records it as the log's key. May be interrupted and repeated.
   */
  reseal(context: CommandContext): Promise<Resealing>;
}

export interface CredentialsServiceOptions {
  readonly execute: Execute;
  readonly websites: View<Website>;
  readonly credentials: View<Credentials>;
  readonly providers: Providers;
  /** Called when something is sealed or opened. */
  readonly sealing: () => Promise<Sealing>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** The deadline of listing a provider's voices. Default 15 s. */
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

  /** Whether it is under the current key now. @throws {UnsealFailed} */
  const resealOne = async (owner: SealContext, context: CommandContext): Promise<boolean> => {
    const was = view.get(credentialsStream(owner.websiteId))?.byEngine[owner.engine];
    const seals = await sealing();
    if (!was || was.keyId === seals.keyId) return false;
    const sealed = seals.seal(seals.open(was, owner), owner);
    const resealed = { engine: owner.engine, was: was.sealed, ...sealed, at: now() };
    await command(owner.websiteId, (state) => resealCredentials(state, resealed), context);
    return true;
  };

  return {
    set: async (websiteId, engine, given, context) => {
      await loadWebsite(websiteId, context);
      const provider = providers[engine];
      if (!provider) {
        throw new NotFound(`There is no provider for the engine ${engine}: it is not running here.`);
      }
      const { seal } = await sealing(); // reports a wrong master key before the provider is called
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
      for (const owner of sealContexts(view)) {
        try {
          if (await resealOne(owner, context)) resealed++;
          else current++;
        } catch (error) {
          if (!(error instanceof UnsealFailed)) throw error;
          unopened.push(owner);
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
