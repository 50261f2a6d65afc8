import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { NotFound } from "../../domain/errors.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { Authenticator } from "../access/authentication.ts";

/** What an address adds to the name of the audio. */
export interface AddressQuery {
  readonly signature?: string | undefined;
  /** Only of private audio: the API key, and the Unix time in seconds until which it is valid. */
  readonly key?: string | undefined;
  readonly expires?: string | undefined;
}

export interface OpenedAddress {
  /** The name in the audio store. */
  readonly name: string;
  /** True if the service has promised this audio: it is worth waiting for. */
  readonly isPromised: boolean;
}

export type AudioAddresses = ReturnType<typeof createAudioAddresses>;

const hourMs = 60 * 60_000;
const validMs = 24 * hourMs;

/**
 * Signs the addresses of the parts of articles, and verifies them. The address of public audio is
 * the same for everybody and for ever, so that a CDN stores it once; its signature only tells every
 * instance that the audio is promised. That of private audio is valid for a day, and as long as its
 * key may be used.
 */
export const createAudioAddresses = ({
  namingKey,
  authenticator,
  clock,
}: {
  readonly namingKey: KeyObject;
  readonly authenticator: Pick<Authenticator, "actFor">;
  readonly clock: () => EpochMs;
}) => {
  // A JSON array, like the digests of Idempotency-Keys, whose first element is an API key; names of
  // audio are digests of JSON objects under the same key.
  const signatureOf = (name: string, { key, expires }: AddressQuery): string =>
    createHmac("sha256", namingKey)
      .update(JSON.stringify(["address", name, key, expires]))
      .digest("base64url")
      .slice(0, 22);

  const isSigned = (name: string, query: AddressQuery): boolean => {
    const expected = Buffer.from(signatureOf(name, query));
    const given = Buffer.from(query.signature ?? "");
    return given.length === expected.length && timingSafeEqual(given, expected);
  };

  const mayUse = (apiKey: string): boolean => {
    try {
      return authenticator.actFor(apiKey).suspension === undefined;
    } catch (error) {
      if (error instanceof NotFound) return false;
      throw error;
    }
  };

  return {
    /** The query of the address of public or private audio. */
    sign: (name: string, apiKey: string): Readonly<Record<string, string>> => {
      if (name.startsWith("public/")) return { signature: signatureOf(name, {}) };
      // The same for an hour, so that a browser's cache finds it again.
      const end = Math.floor((clock() + validMs) / hourMs) * hourMs;
      const query = { key: apiKey, expires: String(end / 1_000) };
      return { ...query, signature: signatureOf(name, query) };
    },
    /**
     * Opens the address of the object: its file name, which both folders may have. An address that
     * is not valid for private audio is one of public audio, which does not exist.
     * @throws {Unavailable} if it is unknown whether the key may be used
     */
    open: (object: string, { signature, key, expires }: AddressQuery): OpenedAddress => {
      const name = `public/${object}`;
      if (signature === undefined) return { name, isPromised: false };
      if (key === undefined || expires === undefined)
        return { name, isPromised: isSigned(name, { signature }) };
      const own = `private/${object}`;
      const isValid = isSigned(own, { signature, key, expires }) && Number(expires) * 1_000 > clock();
      return isValid && mayUse(key) ? { name: own, isPromised: true } : { name, isPromised: false };
    },
  };
};
