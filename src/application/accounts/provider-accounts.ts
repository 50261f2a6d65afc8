import { LRUCache } from "lru-cache";
import type { View } from "../../../projections/runner/runner.ts";
import { type ByokEngine, parseCredentials } from "../../domain/accounts/byok-providers.ts";
import {
  type Credentials,
  credentialsStream,
  type EngineCredentials,
} from "../../domain/accounts/credentials.ts";
import { EngineFailed, Invalid } from "../../domain/errors.ts";
import type { ProviderAccount } from "../../engines/provider.ts";
import type { Providers } from "./providers.ts";
import { type SealContext, type Sealing, UnsealFailed } from "./sealing.ts";

/**
 * The account that the website's credentials open; undefined when it has none for the engine, or nobody provides it
 * here. The same one for the same credentials, so that what it keeps (connections, limits) lasts as long as they.
 * Credentials that cannot be opened make an account that fails when it is used, and the operator is told once.
 */
export type FindAccount = (websiteId: string, engine: ByokEngine) => ProviderAccount | undefined;

/** Accounts that are kept ready. */
const maxCachedAccounts = 1_000;

export const createProviderAccounts = ({
  credentials,
  providers,
  sealing,
  onError,
}: {
  credentials: View<Credentials>;
  providers: Providers;
  sealing: Sealing;
  /** Told, for the operator, of credentials that cannot be used. */
  onError: (what: string, error: unknown) => void;
}): FindAccount => {
  const ready = new LRUCache<string, { revision: number; account: ProviderAccount }>({
    max: maxCachedAccounts,
  });

  const open = <E extends ByokEngine>(place: SealContext & { engine: E }, sealed: EngineCredentials) => {
    const { engine } = place;
    try {
      return providers[engine]?.open(parseCredentials(engine, unsealed(sealing, sealed, place)));
    } catch (error) {
      onError(unusableCredentials(place), redactedError(error));
      return failingAccount(engine);
    }
  };

  return (websiteId, engine) => {
    const place = { websiteId, engine };
    const name = `${websiteId} ${engine}`;
    const sealed = credentials.get(credentialsStream(websiteId))?.byEngine[engine];
    const known = ready.get(name);
    if (known && known.revision === sealed?.revision) return known.account;
    ready.delete(name);
    const account = sealed && open(place, sealed);
    if (account) ready.set(name, { revision: sealed.revision, account });
    return account;
  };
};

const unsealed = (sealing: Sealing, sealed: EngineCredentials, place: SealContext): unknown => {
  const text = sealing.open(sealed, place);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own words repeat what it could not read.
    throw new UnsealFailed("What was sealed is no JSON.");
  }
};

const unusableCredentials = ({ websiteId, engine }: SealContext): string =>
  `the credentials of ${websiteId} for ${engine} cannot be used: set them again, or give this instance the MASTER_KEY under which they were sealed (in MASTER_KEY_PREVIOUS, if it has been replaced)`;

/** Whatever else a driver throws may hold the credentials that it was given. */
const redactedError = (error: unknown): unknown =>
  error instanceof UnsealFailed || error instanceof Invalid
    ? error
    : new Error("the provider did not take them");

const failingAccount = (code: ByokEngine): ProviderAccount => {
  const fail = async (): Promise<never> => {
    throw new EngineFailed(
      `The website's credentials for the engine ${code} cannot be used: they must be set again.`,
      { permanent: true },
    );
  };
  return {
    engine: { code, version: () => "none", prosody: () => [], takesSsml: () => true, synthesize: fail },
    listVoices: fail,
  };
};
