import { withDeadline } from "../../async/deadline.ts";
import { EngineFailed, Invalid, ServiceError } from "../../domain/errors.ts";
import {
  type ByokEngine,
  byokProviders,
  type ProviderCredentials,
} from "../../domain/synthesis/byok-providers.ts";
import type { Provider, ProviderVoice } from "../../engines/provider.ts";
import { unreachable } from "../../engines/provider-http/request-failed.ts";

/** The configured providers. */
export type Providers = { readonly [E in ByokEngine]?: Provider<ProviderCredentials[E]> };

/**
 * Lists the provider's voices, which verifies the credentials. A refusal carries the provider's
 * message, without the credentials.
 * @throws {Invalid}
 */
export const listProviderVoices = async <C extends object>(
  provider: Provider<C>,
  credentials: C,
  deadlineMs: number,
): Promise<readonly ProviderVoice[]> => {
  const onTimeout = () => notListed(unreachable);
  try {
    const client = provider.open(credentials);
    return await withDeadline({ ms: deadlineMs, onTimeout }, (signal) => client.listVoices(signal));
  } catch (error) {
    if (error instanceof EngineFailed) {
      const secrets = secretsIn(credentials, byokProviders[provider.code].secrets);
      throw notListed(withoutSecrets(error.message, secrets));
    }
    if (error instanceof ServiceError) throw error;
    // Any other error of a driver may contain the request, and with it the credentials.
    throw refused("The provider's voices could not be listed.");
  }
};

const notListed = (why: string): Invalid => refused(`The provider's voices could not be listed: ${why}`);

const refused = (message: string): Invalid => new Invalid([{ path: [], message }]);

/**
 * A provider's message may contain the key that it refuses. Other members (a region, a model) stay
 * in the message, because they help to find the mistake.
 */
const withoutSecrets = (message: string, secrets: readonly string[]): string =>
  secrets.reduce((text, secret) => text.replaceAll(secret, "…"), message);

const secretsIn = (credentials: object, members: readonly string[]): string[] =>
  Object.entries(credentials).flatMap(([name, value]) => {
    if (typeof value === "object" && value !== null) return secretsIn(value, members);
    return typeof value === "string" && members.includes(name) ? [value] : [];
  });
