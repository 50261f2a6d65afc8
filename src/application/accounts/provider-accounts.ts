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
 * The provider account of a website's credentials; undefined without credentials or provider. The same credentials give
 * the same account, so that its connections and limits persist. Credentials that cannot be opened give an account whose
 * calls fail, and are logged once.
 */
export type FindAccount = (websiteId: string, engine: ByokEngine) => ProviderAccount | undefined;

/** Cached accounts. */
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
  /** Called with credentials that cannot be used, for the operator's log. */
  onError: (what: string, error: unknown) => void;
}): FindAccount => {
  const ready = new LRUCache<string, { revision: number; account: ProviderAccount }>({
    max: maxCachedAccounts,
  });

  const open = <E extends ByokEngine>(context: SealContext & { engine: E }, sealed: EngineCredentials) => {
    const { engine } = context;
    try {
      return providers[engine]?.open(parseCredentials(engine, unsealed(sealing, sealed, context)));
    } catch (error) {
      onError(unusableCredentials(context), redactedError(error));
      return failingAccount(engine);
    }
  };

  return (websiteId, engine) => {
    const context = { websiteId, engine };
    const name = `${websiteId} ${engine}`;
    const sealed = credentials.get(credentialsStream(websiteId))?.byEngine[engine];
    const known = ready.get(name);
    if (known && known.revision === sealed?.revision) return known.account;
    ready.delete(name);
    const account = sealed && open(context, sealed);
    if (account) ready.set(name, { revision: sealed.revision, account });
    return account;
  };
};

const unsealed = (sealing: Sealing, sealed: EngineCredentials, context: SealContext): unknown => {
  const text = sealing.open(sealed, context);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message contains the text.
    throw new UnsealFailed("The sealed text is not JSON.");
  }
};

const unusableCredentials = ({ websiteId, engine }: SealContext): string =>
  `the credentials of ${websiteId} for ${engine} cannot be used: set them again, or give this instance the MASTER_KEY under which they were sealed (in MASTER_KEY_PREVIOUS, if it has been replaced)`;

/** Any other error of a driver may contain the credentials. */
const redactedError = (error: unknown): unknown =>
  error instanceof UnsealFailed || error instanceof Invalid ? error : new Error("the provider rejected them");

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
