import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import type { EngineCode } from "../../domain/synthesis/speech.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { FindActiveKey } from "../access/active-key.ts";
import type { FindEngine } from "../synthesis/planner.ts";

/** What an address adds to the name of the audio. All but `signature` is only of private audio. */
export interface AddressQuery {
  readonly signature?: string | undefined;
  readonly key?: string | undefined;
  readonly engine?: string | undefined;
  /** Unix seconds. */
  readonly expires?: string | undefined;
}

export interface OpenedAddress {
  /** The name in the audio store. */
  readonly name: string;
  /** True if the service has promised this audio: it is worth waiting for. */
  readonly isPromised: boolean;
}

interface AudioAddressesOptions {
  readonly namingKey: KeyObject;
  readonly findActiveKey: FindActiveKey;
  readonly findEngine: FindEngine;
  readonly clock: () => EpochMs;
}

export type AudioAddresses = ReturnType<typeof createAudioAddresses>;

const hourMs = 60 * 60_000;
const validMs = 24 * hourMs;

/**
 * Signs the addresses of the parts of articles, and verifies them. The address of public audio is
 * the same for everybody and for ever, so that a CDN stores it once; its signature proves to
 * every instance that the audio is promised. That of private audio is valid for a day, and as long
 * as a request with its key would get the audio.
 */
export const createAudioAddresses = ({
  namingKey,
  findActiveKey,
  findEngine,
  clock,
}: AudioAddressesOptions) => {
  // This digests a JSON array whose first element is no API key, as it is in the digests of
  // Idempotency-Keys. Names of audio are digests of JSON objects under the same key.
  const signatureOf = (name: string, { key, engine, expires }: AddressQuery): string =>
    createHmac("sha256", namingKey)
      .update(JSON.stringify(["address", name, key, engine, expires]))
      .digest("base64url")
      .slice(0, signatureLength);

  const isSigned = (name: string, query: AddressQuery): boolean => {
    const expected = Buffer.from(signatureOf(name, query));
    const given = Buffer.from(query.signature ?? "");
    return given.length === expected.length && timingSafeEqual(given, expected);
  };

  /** False if the key is suspended, or the website has no credentials for the engine any more. */
  const mayHear = (apiKey: string, engine: string): boolean => {
    const key = findActiveKey(apiKey);
    return key !== undefined && findEngine(engine as EngineCode, key.websiteId) !== undefined;
  };

  return {
    /** The query of the address of public or private audio. */
    sign: (name: string, apiKey: string, engine: EngineCode): Readonly<Record<string, string>> => {
      if (name.startsWith("public/")) return { signature: signatureOf(name, {}) };
      // The same for an hour, so that the reader's browser finds the audio in its cache.
      const end = Math.floor((clock() + validMs) / hourMs) * hourMs;
      const query = { key: apiKey, engine, expires: String(end / 1_000) };
      return { ...query, signature: signatureOf(name, query) };
    },
    /**
     * Opens the address of an object of this file name, which is in one of the folders. An address
     * that is not valid for private audio is one of public audio, which does not exist.
     * @throws {Unavailable} if it is unknown whether the key may be used
     */
    open: (object: string, query: AddressQuery): OpenedAddress => {
      const name = `public/${object}`;
      const { signature, key, engine, expires } = query;
      if (signature === undefined) return { name, isPromised: false };
      if (key === undefined || engine === undefined || expires === undefined)
        return { name, isPromised: isSigned(name, { signature }) };
      const own = `private/${object}`;
      const isValid = isSigned(own, query) && Number(expires) * 1_000 > clock();
      return isValid && mayHear(key, engine) ? { name: own, isPromised: true } : { name, isPromised: false };
    },
  };
};

const signatureLength = 22;
