import type { View } from "../../../projections/runner/view.ts";
import { findWebsite, websiteNameOf } from "../../../projections/websites.ts";
import {
  type Credentials,
  type CredentialsEvent,
  credentialsDecider,
  credentialsStream,
  type EngineCredentials,
  reencryptCredentials,
  removeCredentials,
  setCredentials,
  usableVoices,
  websiteOfCredentials,
} from "../../domain/accounts/credentials.ts";
import {
  type InstallationKeys,
  masterKeyDecider,
  masterKeyStream,
  replaceMasterKey,
} from "../../domain/accounts/master-key.ts";
import { type ModelRetirement, retirementNotice } from "../../domain/accounts/model-retirements.ts";
import {
  requireWebsite,
  type Website,
  websiteDecider,
  websiteStream,
} from "../../domain/accounts/website.ts";
import { NotFound } from "../../domain/errors.ts";
import {
  type ByokEngine,
  byokEngines,
  type ProviderCredentials,
} from "../../domain/synthesis/byok-providers.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { CommandContext, ExecuteCommand } from "../execute-command.ts";
import {
  type CredentialsCipher,
  type CredentialsOwner,
  DecryptionFailed,
  type SecretOwner,
} from "./credentials-cipher.ts";
import { listProviderVoices, type Providers } from "./list-provider-voices.ts";
import { reencryptNamingKey } from "./naming-key.ts";
import { openCredentials } from "./provider-clients.ts";

/** A description of credentials, without their values. */
export interface CredentialsDetails {
  readonly engine: ByokEngine;
  /** The name in the table of BYOK providers. */
  readonly provider: string;
  /** The number of voices that the provider listed. */
  readonly voices: number;
  /** The time in ISO 8601, UTC. */
  readonly setAt: string;
  /** Present if the provider has announced the end of the model that the credentials name. */
  readonly retirement?: ModelRetirement & {
    /** Says what operators should do. */
    readonly message: string;
  };
}

/** A description of credentials with their website. */
export interface WebsiteCredentials extends CredentialsDetails {
  readonly websiteId: string;
  /** Absent while this instance does not know the website. */
  readonly websiteName?: string;
}

/** The result of encrypting all credentials. */
export interface Reencryption {
  /** The number of secrets that were encrypted again under the current key. */
  readonly reencrypted: number;
  /** The number of secrets that the current key had encrypted already. */
  readonly current: number;
  /** The owners of secrets that no key decrypts. These secrets are unchanged. */
  readonly unopened: readonly SecretOwner[];
}

interface CredentialsServiceOptions {
  readonly execute: ExecuteCommand;
  readonly websites: View<Website>;
  readonly credentials: View<Credentials>;
  readonly providers: Providers;
  /** Called when something is encrypted or opened. */
  readonly cipher: () => Promise<CredentialsCipher>;
  /** Encrypt other secrets under the current key, such as data keys. Default: there are none. */
  readonly reencryptOthers?: readonly ((context: CommandContext) => Promise<Reencryption>)[];
  readonly clock: () => EpochMs;
  /** The deadline of listing a provider's voices. Default: 15 s. */
  readonly deadlineMs?: number;
}

export type CredentialsService = ReturnType<typeof createCredentialsService>;

/**
 * Creates the service of websites' BYOK credentials. When a command resolves, its effect is visible
 * on this instance. All methods may throw {Unavailable}.
 */
export const createCredentialsService = (options: CredentialsServiceOptions) => {
  const { execute, websites, credentials: view, providers, cipher, clock, deadlineMs = 15_000 } = options;
  const now = (): string => new Date(clock()).toISOString();

  const command = (
    websiteId: string,
    decide: (credentials: Credentials) => CredentialsEvent[],
    context: CommandContext,
  ): Promise<Credentials> => execute(credentialsDecider, credentialsStream(websiteId), decide, context);

  const loadWebsite = (websiteId: string, context: CommandContext): Promise<Website> =>
    execute(websiteDecider, websiteStream(websiteId), requireWebsite, context);

  const noticeOf = (retirement: ModelRetirement | undefined): Pick<CredentialsDetails, "retirement"> =>
    retirement ? { retirement: { ...retirement, message: retirementNotice(retirement, clock()) } } : {};

  /** Resolves with undefined also for credentials that this process cannot open. */
  const retirementOf = async <E extends ByokEngine>(
    owner: CredentialsOwner & { engine: E },
    encrypted: EngineCredentials,
  ): Promise<ModelRetirement | undefined> => {
    const provider = providers[owner.engine];
    if (!provider?.retirement) return undefined;
    try {
      return provider.retirement(openCredentials(await cipher(), encrypted, owner));
    } catch {
      return undefined;
    }
  };

  const describe = async (
    websiteId: string,
    { byEngine }: Pick<Credentials, "byEngine"> = { byEngine: {} },
  ): Promise<CredentialsDetails[]> => {
    const all = byokEngines.map(async (engine) => {
      const set = byEngine[engine];
      if (!set) return [];
      return [{ ...details(engine, set), ...noticeOf(await retirementOf({ websiteId, engine }, set)) }];
    });
    return (await Promise.all(all)).flat();
  };

  return {
    /**
     * Verifies the credentials by listing the provider's voices, then replaces the engine's
     * credentials.
     * @throws {NotFound} for an unknown website, or an engine without a provider on this instance
     * @throws {Invalid} with the provider's message when it refuses them; nothing is stored
     */
    set: async <E extends ByokEngine>(
      websiteId: string,
      engine: E,
      given: ProviderCredentials[E],
      context: CommandContext,
    ): Promise<CredentialsDetails> => {
      await loadWebsite(websiteId, context);
      const provider = providers[engine];
      if (!provider) {
        throw new NotFound(`There is no provider for the engine ${engine}: it is not running here.`);
      }
      const { encrypt } = await cipher(); // reports a wrong master key before the provider is called
      const voices = usableVoices(await listProviderVoices(provider, given, deadlineMs));
      const encrypted = encrypt(JSON.stringify(given), { websiteId, engine });
      const at = now();
      const set = { engine, provider: provider.name, ...encrypted, voices, at };
      await command(websiteId, (state) => setCredentials(state, set), context);
      return { ...details(engine, { ...set, setAt: at }), ...noticeOf(provider.retirement?.(given)) };
    },
    /** @throws {NotFound} for an unknown website, and if it has no such credentials */
    remove: async (websiteId: string, engine: ByokEngine, context: CommandContext): Promise<void> => {
      await loadWebsite(websiteId, context);
      await command(websiteId, (state) => removeCredentials(state, { engine, at: now() }), context);
    },
    /** @throws {NotFound} for an unknown website */
    list: async (websiteId: string): Promise<CredentialsDetails[]> => {
      if (!findWebsite(websites, websiteId)) throw new NotFound("There is no such website.");
      return await describe(websiteId, view.get(credentialsStream(websiteId)));
    },
    /** Lists the credentials of all websites, by website and engine. */
    listAll: async (): Promise<WebsiteCredentials[]> => {
      const all = Array.from(view.entries(), async ([stream, credentials]) => {
        const websiteId = websiteOfCredentials(stream);
        const websiteName = websiteNameOf(websites, websiteId);
        const owner = { websiteId, ...(websiteName !== undefined && { websiteName }) };
        return (await describe(websiteId, credentials)).map((one) => ({ ...owner, ...one }));
      });
      return (await Promise.all(all)).flat();
    },
    /**
     * Encrypts all credentials under the current key, and records this key as the log's key. A run
     * may be interrupted and repeated.
     */
    reencrypt: createReencrypt(options),
  };
};

/** Executes one command for each set of credentials, then one that records the key. */
const createReencrypt = ({
  execute,
  credentials,
  cipher,
  clock,
  reencryptOthers = [],
}: CredentialsServiceOptions) => {
  const now = (): string => new Date(clock()).toISOString();

  /**
   * Returns false if the current key had encrypted the credentials already.
   * @throws {DecryptionFailed}
   */
  const reencryptOne = async (owner: CredentialsOwner, context: CommandContext): Promise<boolean> => {
    const stream = credentialsStream(owner.websiteId);
    const was = credentials.get(stream)?.byEngine[owner.engine];
    const current = await cipher();
    if (!was || was.keyId === current.keyId) return false;
    const encrypted = current.encrypt(current.decrypt(was, owner), owner);
    const reencrypted = { engine: owner.engine, was: was.ciphertext, ...encrypted, at: now() };
    await execute(credentialsDecider, stream, (state) => reencryptCredentials(state, reencrypted), context);
    return true;
  };

  return async (context: CommandContext): Promise<Reencryption> => {
    const unopened: SecretOwner[] = [];
    let [reencrypted, current] = [0, 0];
    for (const owner of ownersOf(credentials)) {
      try {
        if (await reencryptOne(owner, context)) reencrypted++;
        else current++;
      } catch (error) {
        if (!(error instanceof DecryptionFailed)) throw error;
        unopened.push(owner);
      }
    }
    const named = await reencryptNamingKey({ execute, cipher: await cipher(), now }, context);
    const others: Reencryption[] = [named];
    for (const reencryptOther of reencryptOthers) others.push(await reencryptOther(context));
    const { keyId } = await cipher();
    const replace = (keys: InstallationKeys) => replaceMasterKey(keys, keyId, now());
    await execute(masterKeyDecider, masterKeyStream, replace, context);
    return {
      reencrypted: others.reduce((sum, other) => sum + other.reencrypted, reencrypted),
      current: others.reduce((sum, other) => sum + other.current, current),
      unopened: [unopened, ...others.map((other) => other.unopened)].flat(),
    };
  };
};

const details = (
  engine: ByokEngine,
  { provider, voices, setAt }: Pick<EngineCredentials, "provider" | "voices" | "setAt">,
): CredentialsDetails => ({ engine, provider, voices: voices.length, setAt });

const ownersOf = (view: View<Credentials>): CredentialsOwner[] =>
  Iterator.from(view.entries())
    .flatMap(([stream, { byEngine }]) =>
      byokEngines
        .filter((engine) => byEngine[engine])
        .map((engine) => ({ websiteId: websiteOfCredentials(stream), engine })),
    )
    .toArray();
