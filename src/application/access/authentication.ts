import { findKey } from "../../../projections/keys.ts";
import type { LiveView, View } from "../../../projections/runner/view.ts";
import { findWebsite } from "../../../projections/websites.ts";
import type { IssuedKey, Key } from "../../domain/accounts/key.ts";
import { type Website, websiteStream } from "../../domain/accounts/website.ts";
import { NotFound, Unauthorized } from "../../domain/errors.ts";
import { type AccessPoint, presenterOf } from "../../limits/client-network.ts";
import type { RefusingLimit } from "../../limits/limit.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { type ActingKey, actingKey, type Principal, type Proof, principalOf } from "./principal.ts";
import { createSecretFinder } from "./secret-finder.ts";

export type { Principal };

/** The credentials of a request, unchecked. Absent parts are undefined. */
export type Credentials =
  /** A key and its secret, in two headers. */
  | { readonly by: "secret"; readonly apiKey: string | undefined; readonly apiSecret: string }
  /**
   * An access token. If it is bound to an origin, the request must come from there. A key that is
   * sent with it must be the token's.
   */
  | {
      readonly by: "token";
      readonly token: string;
      readonly apiKey: string | undefined;
      readonly origin: string | undefined;
    }
  /** A key from one of the website's origins. */
  | { readonly by: "origin"; readonly apiKey: string | undefined; readonly origin: string | undefined };

export interface Authenticator {
  /**
   * Authenticates a caller by one form of credentials only: an origin does not make up for a wrong
   * secret or token.
   * @throws {Unauthorized} with a message that discloses only the form of the credentials
   * @throws {RateLimited} for a wrong secret, if the client has presented too many
   */
  authenticate(credentials: Credentials, client: string, at?: AccessPoint): Principal;
  /**
   * Returns the current state of an authenticated principal. The expiry of its token is ignored,
   * but not the end of its session.
   * @throws {Unauthorized} when its proof was withdrawn or its session has ended
   */
  reauthenticate(principal: Principal): Principal;
  /**
   * A key without its credentials, for an operator.
   * @throws {NotFound}
   */
  actFor(apiKey: string): ActingKey;
}

interface Accounts {
  readonly keys: LiveView<Key>;
  readonly websites: View<Website>;
  readonly accessTokens: AccessTokens;
}

/**
 * `failures` limits the 401s for wrong secrets: further ones get 429, which bounds the retries of a
 * misconfigured client. Credentials are checked first, and correct ones are never refused, because
 * anyone may share an address with others, and any web page can send requests from its visitors'
 * addresses. The limit is therefore no protection against guessing; the length of the secrets is. A
 * request without credentials, a public key from an unverified origin, and an access token, which
 * is signed, do not count.
 */
export const createAuthenticator = ({
  failures,
  ...accounts
}: Accounts & { readonly failures: RefusingLimit }): Authenticator => {
  const { findPrincipal, refreshPrincipal } = createPrincipalFinder(accounts);

  return {
    authenticate: (credentials, client, at = "website") => {
      const principal = findPrincipal(credentials);
      if (principal) return principal;
      if (credentials.by === "secret") failures.acquire(presenterOf(client, at));
      throw new Unauthorized(refusal(credentials));
    },
    reauthenticate: (principal) => {
      const { token } = principal;
      if (token && !accounts.accessTokens.isSessionValid(token))
        throw new Unauthorized("The session of the access token has ended.");
      const current = refreshPrincipal(principal);
      if (!current) throw new Unauthorized("The credentials were withdrawn.");
      return current;
    },
    actFor: (apiKey) => {
      const key = findKey(accounts.keys, apiKey);
      if (!key) throw new NotFound("There is no such key.");
      return actingKey(key);
    },
  };
};

/**
 * Checks credentials and proofs against the views. Both functions return undefined for wrong or
 * withdrawn ones.
 */
const createPrincipalFinder = ({ keys, websites, accessTokens }: Accounts) => {
  const bySecret = createSecretFinder(keys);

  const isOriginOf = ({ websiteId }: IssuedKey, origin: string): boolean =>
    findWebsite(websites, websiteId)?.origins.includes(origin) ?? false;

  /**
   * Each request checks this, because a token's proof may be withdrawn before the token expires.
   */
  const isProofValid = (proof: Proof, key: IssuedKey): boolean =>
    proof.by === "secret"
      ? key.secrets.some(({ secretId }) => secretId === proof.secretId)
      : isOriginOf(key, proof.origin);

  const byToken = ({ token, apiKey, origin }: Of<"token">): Principal | undefined => {
    const claims = accessTokens.read(token);
    if (!claims || (apiKey !== undefined && apiKey !== claims.apiKey)) return undefined;
    const { proof } = claims;
    if (proof.by === "origin" && proof.origin !== origin) return undefined;
    const key = findKey(keys, claims.apiKey);
    return key && isProofValid(proof, key) ? { ...principalOf(key, proof), token: claims } : undefined;
  };

  const byOrigin = ({ apiKey, origin }: Of<"origin">): Principal | undefined => {
    const key = findKey(keys, apiKey ?? "");
    if (!key || origin === undefined || !isOriginOf(key, origin)) return undefined;
    return principalOf(key, { by: "origin", origin });
  };

  /** The keys of an erased website have ended, whatever their streams say. */
  const isEnded = ({ websiteId }: Pick<ActingKey, "websiteId">): boolean =>
    websites.get(websiteStream(websiteId))?.status === "erased";

  const findProven = (credentials: Credentials): Principal | undefined => {
    switch (credentials.by) {
      case "secret":
        return bySecret(credentials.apiKey ?? "", credentials.apiSecret);
      case "token":
        return byToken(credentials);
      case "origin":
        return byOrigin(credentials);
    }
  };

  const findPrincipal = (credentials: Credentials): Principal | undefined => {
    const principal = findProven(credentials);
    return principal && !isEnded(principal) ? principal : undefined;
  };

  const refreshPrincipal = ({ apiKey, proof }: Principal): Principal | undefined => {
    const key = findKey(keys, apiKey);
    return key && isProofValid(proof, key) && !isEnded(key) ? principalOf(key, proof) : undefined;
  };

  return { findPrincipal, refreshPrincipal };
};

type Of<By extends Credentials["by"]> = Extract<Credentials, { by: By }>;

const wrongKey = "The API key or secret is missing or wrong.";

/**
 * The refusal depends on the form of the credentials alone, and does not disclose whether the key
 * exists.
 */
const refusal = (credentials: Credentials): string => {
  switch (credentials.by) {
    case "secret":
      return wrongKey;
    case "token":
      return credentials.token.split(".").length === 3
        ? "The access token is wrong, has expired or was withdrawn."
        : "The token is neither API_KEY.API_SECRET nor an access token.";
    case "origin": {
      const { apiKey, origin } = credentials;
      if (apiKey === undefined) return wrongKey;
      if (!origin) return "The API key needs its secret, or a request from a verified origin.";
      return `The API key is wrong, or ${origin} is not a verified origin of its website.`;
    }
  }
};
