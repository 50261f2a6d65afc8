import { LRUCache } from "lru-cache";
import { z } from "zod";
import { readJwt, signJwt } from "./jwt.ts";
import type { Principal, Proof, Validity } from "./principal.ts";

/** A bearer token; `exp` in unix seconds. */
export interface AccessToken {
  readonly token: string;
  readonly exp: number;
}

/** What a token says; whether its proof still holds is for the views to tell. */
export interface TokenClaims extends Validity {
  readonly apiKey: string;
  readonly proof: Proof;
}

/** Short-lived tokens that stand for what proved a principal, and for no more. */
export interface AccessTokens {
  /** A fresh token, bound to what proved the principal. */
  issue(principal: Principal): AccessToken;
  /** A fresh token in place of one that is past half its life; undefined for any other principal. */
  renew(principal: Principal): AccessToken | undefined;
  /** What the token says, or undefined for one that was not minted here or is not valid now. */
  read(token: string): TokenClaims | undefined;
  /** Whether the token was minted here, valid or not: one that has expired is no guess. */
  isSigned(token: string): boolean;
}

/** Longer than any token minted here: what is longer is refused before any work. */
const maxTokenLength = 1_000;
const maxCachedTokens = 10_000;

/** So far may the clock of another instance that mints tokens be ahead of this one's. */
const leewaySeconds = 30;

export const createAccessTokens = ({
  key,
  previousKeys = [],
  ttlSeconds,
  clock,
}: {
  /** 32 bytes, for this purpose alone. */
  key: Buffer;
  /** What tokens were signed with before: those that are still out stay good. */
  previousKeys?: readonly Buffer[];
  ttlSeconds: number;
  /** Milliseconds since the epoch. */
  clock: () => number;
}): AccessTokens => {
  const known = new LRUCache<string, SignedClaims>({ max: maxCachedTokens });
  const nowSeconds = (): number => Math.floor(clock() / 1_000);

  const issue = ({ apiKey, proof }: Principal): AccessToken => {
    const iat = nowSeconds();
    const exp = iat + ttlSeconds;
    const bound = proof.by === "secret" ? { sid: proof.secretId } : { origin: proof.origin };
    return { token: signJwt({ sub: apiKey, ...bound, iat, nbf: iat, exp }, key), exp };
  };

  const keys = [key, ...previousKeys];
  const claimsOf = (token: string): unknown =>
    Iterator.from(keys)
      .map((one) => readJwt(token, one))
      .find((claims) => claims !== undefined);

  /** What the token said when it was signed, whenever that was. */
  const signedClaims = (token: string): SignedClaims | undefined => {
    const seen = known.get(token);
    if (seen) return seen;
    if (token.length > maxTokenLength) return undefined;
    const { data } = payload.safeParse(claimsOf(token));
    if (data) known.set(token, data);
    return data;
  };

  return {
    issue,
    renew: (principal) => {
      const { token } = principal;
      const isDue = token && clock() >= ((token.issuedAt + token.exp) / 2) * 1_000;
      return isDue ? issue(principal) : undefined;
    },
    read: (token) => {
      const claims = signedClaims(token);
      if (!claims) return undefined;
      const now = nowSeconds();
      const hasBegun = claims.from <= now + leewaySeconds;
      return hasBegun && now < claims.exp ? claims : undefined;
    },
    isSigned: (token) => signedClaims(token) !== undefined,
  };
};

/** `from`: not to be taken before. */
interface SignedClaims extends TokenClaims {
  readonly from: number;
}

const seconds = z.number().int();

/** What `issue` signs. */
const payload = z
  .object({
    sub: z.string(),
    sid: z.string().optional(),
    origin: z.string().optional(),
    iat: seconds,
    nbf: seconds,
    exp: seconds,
  })
  .transform(({ sub, sid, origin, iat, nbf, exp }, context): SignedClaims => {
    const proof = proofOf(sid, origin);
    if (!proof) {
      context.addIssue("A token is bound to a secret or an origin.");
      return z.NEVER;
    }
    return { apiKey: sub, proof, issuedAt: iat, exp, from: Math.max(iat, nbf) };
  });

const proofOf = (secretId: string | undefined, origin: string | undefined): Proof | undefined => {
  if (secretId !== undefined) return origin === undefined ? { by: "secret", secretId } : undefined;
  return origin === undefined ? undefined : { by: "origin", origin };
};
