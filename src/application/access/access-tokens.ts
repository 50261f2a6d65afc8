import { createHmac, timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { EpochMs } from "../../domain/time.ts";
import type { Principal, Proof, Validity } from "./principal.ts";

/** A bearer token; `exp` in unix seconds. */
interface AccessToken {
  readonly token: string;
  readonly exp: number;
}

/**
 * The claims of a token, which is not valid before `notBefore`. The views decide whether its proof
 * is still valid.
 */
interface TokenClaims extends Validity {
  readonly apiKey: string;
  readonly proof: Proof;
  readonly notBefore: number;
}

/** Issued tokens are always shorter. Longer tokens are refused before any work. */
const maxTokenLength = 1_000;
const maxCachedTokens = 10_000;

/** Maximum clock skew between instances that issue tokens. */
const leewaySeconds = 30;

/**
 * The age at which a session ends: no token continues it. It is at least the longest lifetime of a
 * token (TOKEN_TTL_SECONDS).
 */
export const maxSessionSeconds = 86_400;

export type AccessTokens = ReturnType<typeof createAccessTokens>;

/**
 * Short-lived tokens, bound to the proof of a principal. A session is a token and the tokens that
 * renew it. It begins at `auth_time`, when other credentials are presented, and ends at its maximum
 * age. So a stolen token is not valid for ever.
 */
export const createAccessTokens = ({
  key,
  previousKeys = [],
  ttlSeconds,
  clock,
}: {
  /** 32 bytes, for this purpose alone. */
  key: Buffer;
  /** Former keys. Tokens signed with them stay valid. */
  previousKeys?: readonly Buffer[];
  ttlSeconds: number;
  clock: () => EpochMs;
}) => {
  const keys = [key, ...previousKeys];
  const known = new LRUCache<string, TokenClaims>({ max: maxCachedTokens });
  const nowSeconds = (): number => Math.floor(clock() / 1_000);

  const issue = ({ apiKey, proof, token }: Pick<Principal, "apiKey" | "proof" | "token">): AccessToken => {
    const iat = nowSeconds();
    const authTime = token?.authTime ?? iat;
    const exp = Math.min(iat + ttlSeconds, sessionEnd({ authTime }));
    const bound = proof.by === "secret" ? { sid: proof.secretId } : { origin: proof.origin };
    const claims = { sub: apiKey, ...bound, iat, nbf: iat, exp, auth_time: authTime };
    return { token: signJwt(claims, key), exp };
  };

  /** The claims of a correctly signed token, expired or not. */
  const signedClaims = (token: string): TokenClaims | undefined => {
    const seen = known.get(token);
    if (seen) return seen;
    if (token.length > maxTokenLength) return undefined;
    const attempts = keys.values().map((one) => readJwt(token, one));
    const { data } = payload.safeParse(attempts.find((claims) => claims !== undefined));
    if (data) known.set(token, data);
    return data;
  };

  return {
    /** A new token, bound to the principal's proof and session. */
    issue,
    /**
     * A new token if half of the lifetime of the principal's token is over. Undefined if the
     * session ends with the token, because a new one would not be valid for longer.
     */
    renew: (principal: Principal): AccessToken | undefined => {
      const { token } = principal;
      const isDue =
        token && token.exp < sessionEnd(token) && clock() >= ((token.issuedAt + token.exp) / 2) * 1_000;
      return isDue ? issue(principal) : undefined;
    },
    /** The claims, or undefined if the token was not issued here or is not valid now. */
    read: (token: string): TokenClaims | undefined => {
      const claims = signedClaims(token);
      if (!claims) return undefined;
      const now = nowSeconds();
      const hasBegun = claims.notBefore <= now + leewaySeconds;
      return hasBegun && now < Math.min(claims.exp, sessionEnd(claims)) ? claims : undefined;
    },
    /**
     * True if the token's session has not expired. A connection that was opened with the token is
     * closed when it expires.
     */
    isSessionValid: (token: Validity): boolean => nowSeconds() < sessionEnd(token),
  };
};

const sessionEnd = ({ authTime }: Pick<Validity, "authTime">): number => authTime + maxSessionSeconds;

const seconds = z.number().int();

/** The claims that `issue` signs. */
const payload = z
  .object({
    sub: z.string(),
    sid: z.string().optional(),
    origin: z.string().optional(),
    iat: seconds,
    nbf: seconds,
    exp: seconds,
    // Earlier versions issue tokens without it, and may still run beside this one.
    auth_time: seconds.optional(),
  })
  .transform(({ sub, sid, origin, iat, nbf, exp, auth_time: authTime = iat }, context): TokenClaims => {
    const proof = proofOf(sid, origin);
    if (!proof) {
      context.addIssue("A token is bound to a secret or an origin.");
      return z.NEVER;
    }
    return { apiKey: sub, proof, issuedAt: iat, exp, authTime, notBefore: Math.max(iat, nbf) };
  });

const proofOf = (secretId: string | undefined, origin: string | undefined): Proof | undefined => {
  if (secretId !== undefined) return origin === undefined ? { by: "secret", secretId } : undefined;
  return origin === undefined ? undefined : { by: "origin", origin };
};

/*
 * JSON Web Tokens (RFC 7519) signed with HMAC-SHA-256. Only one header is accepted, and it is
 * compared as text, so a token cannot choose its algorithm.
 */
const header = Buffer.from(JSON.stringify({ alg: "HS256", typ: "JWT" })).toString("base64url");

const signJwt = (claims: object, key: Buffer): string => {
  const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  return `${signed}.${signature(signed, key)}`;
};

/**
 * The token's claims, or undefined if it is not signed with this key. The caller checks its times.
 */
const readJwt = (token: string, key: Buffer): unknown => {
  const [head, payload, signed, ...more] = token.split(".");
  if (head !== header || payload === undefined || signed === undefined || more.length > 0) return undefined;
  // The signatures are compared as text, because several base64url spellings decode to the same
  // one.
  const [expected, given] = [Buffer.from(signature(`${head}.${payload}`, key)), Buffer.from(signed)];
  if (expected.length !== given.length || !timingSafeEqual(expected, given)) return undefined;
  return JSON.parse(Buffer.from(payload, "base64url").toString());
};

const signature = (text: string, key: Buffer): string =>
  createHmac("sha256", key).update(text).digest("base64url");
