import { LRUCache } from "lru-cache";
import type { View } from "../../../projections/runner/view.ts";
import {
  type Credentials,
  credentialsStream,
  type EngineCredentials,
} from "../../domain/accounts/credentials.ts";
import { EngineFailed, Invalid } from "../../domain/errors.ts";
import {
  type ByokEngine,
  type ProviderCredentials,
  parseCredentials,
} from "../../domain/synthesis/byok-providers.ts";
import type { ProviderClient } from "../../engines/provider.ts";
import { type CredentialsCipher, type CredentialsOwner, DecryptionFailed } from "./credentials-cipher.ts";
import type { Providers } from "./list-provider-voices.ts";

/**
 * Finds the client of a provider with a website's credentials; undefined if there are no
 * credentials or no such provider. The same credentials give the same client, so that its
 * connections and limits persist. Credentials that cannot be opened give a client whose calls fail,
 * and are logged once.
 */
export type FindProviderClient = (websiteId: string, engine: ByokEngine) => ProviderClient | undefined;

const maxCachedClients = 1_000;

export const createProviderClients = ({
  credentials,
  providers,
  cipher,
  onError,
}: {
  credentials: View<Credentials>;
  providers: Providers;
  cipher: CredentialsCipher;
  /** Called with credentials that cannot be used, for the operator's log. */
  onError: (what: string, error: unknown) => void;
}): FindProviderClient => {
  const ready = new LRUCache<string, { revision: number; client: ProviderClient }>({
    max: maxCachedClients,
  });

  const open = <E extends ByokEngine>(
    context: CredentialsOwner & { engine: E },
    encrypted: EngineCredentials,
  ) => {
    const { engine, websiteId } = context;
    try {
      return providers[engine]?.open(openCredentials(cipher, encrypted, context), websiteId);
    } catch (error) {
      onError(unusableCredentials(context), redactedError(error));
      return failingClient(engine);
    }
  };

  return (websiteId, engine) => {
    const context = { websiteId, engine };
    const name = `${websiteId} ${engine}`;
    const encrypted = credentials.get(credentialsStream(websiteId))?.byEngine[engine];
    const known = ready.get(name);
    if (known && known.revision === encrypted?.revision) return known.client;
    ready.delete(name);
    const client = encrypted && open(context, encrypted);
    if (client) ready.set(name, { revision: encrypted.revision, client });
    return client;
  };
};

/**
 * @throws {DecryptionFailed}
 * @throws {Invalid}
 */
export const openCredentials = <E extends ByokEngine>(
  cipher: CredentialsCipher,
  encrypted: EngineCredentials,
  context: CredentialsOwner & { engine: E },
): ProviderCredentials[E] => parseCredentials(context.engine, parsed(cipher.decrypt(encrypted, context)));

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message contains the text.
    throw new DecryptionFailed("The encrypted text is not JSON.");
  }
};

const unusableCredentials = ({ websiteId, engine }: CredentialsOwner): string =>
  `the credentials of ${websiteId} for ${engine} cannot be used: set them again, or give this instance the MASTER_KEY under which they were encrypted (in MASTER_KEY_PREVIOUS, if it has been replaced)`;

/** Any other error of a driver may contain the credentials. */
const redactedError = (error: unknown): unknown =>
  error instanceof DecryptionFailed || error instanceof Invalid
    ? error
    : new Error("the provider rejected them");

const failingClient = (code: ByokEngine): ProviderClient => {
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
