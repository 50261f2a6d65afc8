import { untilAborted, withDeadline } from "../../async/deadline.ts";
import type { ProviderCredentials } from "../../domain/accounts/byok-providers.ts";
import { EngineFailed } from "../../domain/errors.ts";
import type { Exchange } from "../provider-http/exchange.ts";
import { errorFrom, readBody } from "../provider-http/responses.ts";

export interface GoogleAuth {
  /** The headers that prove who asks. @throws {EngineFailed} the signal's reason */
  headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
  /** What no message may repeat. */
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

/** A token is asked for once, whoever waits for it, kept while it lasts, and outlives those who leave. */
const byServiceAccount = (account: ServiceAccount, exchange: Exchange): GoogleAuth => {
  const secrets = [account.private_key, account.private_key_id ?? ""].filter((secret) => secret !== "");
  // Where tokens are had is the library's constant: no file of an account has a say in it.
  const openClient = async () => {
    const { JWT } = await import("google-auth-library"); // 10 MB: loaded for those who have a service account
    return new JWT({
      email: account.client_email,
      key: account.private_key,
      ...(account.private_key_id !== undefined && { keyId: account.private_key_id }),
      scopes: [scope],
      transporterOptions: {
        fetchImplementation: fetchThrough(exchange, secrets),
        retryConfig: { retry: 0, noResponseRetries: 0 },
      },
    });
  };
  let client: ReturnType<typeof openClient> | undefined;
  const token = async (): Promise<string> => {
    client ??= openClient();
    const { token } = await (await client).getAccessToken().catch(tell);
    if (!token) throw new EngineFailed("Google gave no access token.");
    return token;
  };
  return {
    headers: async (signal) => ({ Authorization: `Bearer ${await untilAborted(token(), signal)}` }),
    secrets,
  };
};

const tokenDeadlineMs = 15_000;
const tokenBytes = 64 * 1024;

/** The library's way to the network: ours, with its guard and its deadlines. */
const fetchThrough =
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

/** What the library throws holds the whole request, signature included: of it only what we threw is told. */
const tell = (error: unknown): never => {
  const { cause } = error as { cause?: unknown };
  if (cause instanceof EngineFailed) throw cause;
  throw new EngineFailed("The service account's private key cannot be used to sign in.");
};
