import { untilAborted, withDeadline } from "../../async/deadline.ts";
import { EngineFailed } from "../../domain/errors.ts";
import type { ProviderCredentials } from "../../domain/synthesis/byok-providers.ts";
import type { Exchange } from "../provider-http/exchange.ts";
import { errorFrom, readBody } from "../provider-http/responses.ts";

export interface GoogleAuth {
  /**
   * The authentication headers.
   * @throws {EngineFailed}
   * @throws the signal's reason
   */
  headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
  /** The strings that must not appear in messages. */
  readonly secrets: readonly string[];
}

type ServiceAccount = Extract<ProviderCredentials["gwn"], { serviceAccount: object }>["serviceAccount"];

export const googleAuth = (credentials: ProviderCredentials["gwn"], exchange: Exchange): GoogleAuth =>
  "apiKey" in credentials
    ? byKey(credentials.apiKey)
    : byServiceAccount(credentials.serviceAccount, exchange);

const byKey = (apiKey: string): GoogleAuth => ({
  headers: async () => ({ "x-goog-api-key": apiKey }),
  secrets: [apiKey],
});

const scope = "https://www.googleapis.com/auth/cloud-platform";

/** Concurrent requests share one token, which is cached while it is valid. */
const byServiceAccount = (account: ServiceAccount, exchange: Exchange): GoogleAuth => {
  const secrets = [account.private_key, account.private_key_id ?? ""].filter((secret) => secret !== "");
  // The token endpoint is the library's constant: key files cannot change it.
  const openClient = async () => {
    const { JWT } = await import("google-auth-library"); // 10 MB: loaded only for service accounts
    return new JWT({
      email: account.client_email,
      key: account.private_key,
      ...(account.private_key_id !== undefined && { keyId: account.private_key_id }),
      scopes: [scope],
      transporterOptions: {
        fetchImplementation: fetchVia(exchange, secrets),
        retryConfig: { retry: 0, noResponseRetries: 0 },
      },
    });
  };
  let client: ReturnType<typeof openClient> | undefined;
  const token = async (): Promise<string> => {
    client ??= openClient();
    const { token } = await (await client).getAccessToken().catch(rethrow);
    if (!token) throw new EngineFailed("Google returned no access token.");
    return token;
  };
  return {
    headers: async (signal) => ({ Authorization: `Bearer ${await untilAborted(token(), signal)}` }),
    secrets,
  };
};

const tokenDeadlineMs = 15_000;
const tokenBytes = 64 * 1024;

/** The library's requests go through our exchange, with its guard and deadlines. */
const fetchVia =
  (exchange: Exchange, hidden: readonly string[]): typeof fetch =>
  async (input, init) => {
    const request = {
      method: "POST",
      url: new URL(String(input)),
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: String(init?.body),
    } as const;
    const onTimeout = () => new EngineFailed("Google did not issue an access token in time.");
    return withDeadline({ ms: tokenDeadlineMs, onTimeout }, async (signal) => {
      const response = await exchange(request, signal);
      if (response.status !== 200) throw await errorFrom(response, { hidden });
      return new Response(new Uint8Array(await readBody(response, tokenBytes)));
    });
  };

/**
 * The library's errors contain the whole request with its signature: only our own errors are passed
 * on.
 */
const rethrow = (error: unknown): never => {
  const { cause } = error as { cause?: unknown };
  if (cause instanceof EngineFailed) throw cause;
  throw new EngineFailed("The service account's private key cannot be used to sign in.");
};
