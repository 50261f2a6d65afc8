import { createHmac, timingSafeEqual } from "node:crypto";

/*
 * JSON Web Tokens (RFC 7519) signed with HMAC-SHA-256. There is one header, compared as it is written: a token cannot
 * choose its own algorithm.
 */
const header = Buffer.from(JSON.stringify({ alg: "HS256", typ: "JWT" })).toString("base64url");

export const signJwt = (claims: object, key: Buffer): string => {
  const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  return `${signed}.${signature(signed, key)}`;
};

/** The token's claims, or undefined if it is not signed with this key. The caller checks its times. */
export const readJwt = (token: string, key: Buffer): unknown => {
  const [head, payload, signed, ...more] = token.split(".");
  if (head !== header || payload === undefined || signed === undefined || more.length > 0) return undefined;
  // Compared as text: several base64url spellings decode to the same signature.
  const [expected, given] = [Buffer.from(signature(`${head}.${payload}`, key)), Buffer.from(signed)];
  if (expected.length !== given.length || !timingSafeEqual(expected, given)) return undefined;
  return JSON.parse(Buffer.from(payload, "base64url").toString());
};

const signature = (text: string, key: Buffer): string =>
  createHmac("sha256", key).update(text).digest("base64url");
