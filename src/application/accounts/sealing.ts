import { createCipheriv, createDecipheriv, hash } from "node:crypto";
import type { ByokEngine } from "../../domain/accounts/byok-providers.ts";
import type { Sealed } from "../../domain/accounts/credentials.ts";
import type { Random } from "./identifiers.ts";

/** Whose it is and what for. What was sealed for one place cannot be opened in another. */
export interface SealContext {
  readonly websiteId: string;
  readonly engine: ByokEngine;
}

/** Closes texts so that only a holder of the key can read them, and nobody can change or move them. */
export interface Sealing {
  /** The id of the key that seals now. */
  readonly keyId: string;
  /** The ids of all keys, that one first. */
  readonly keyIds: readonly [string, ...string[]];
  seal(text: string, place: SealContext): Sealed;
  /** With whichever of the keys it was sealed under. @throws {UnsealFailed} */
  open(sealed: Sealed, place: SealContext): string;
}

/** It stays closed. Tells nothing of what is inside. */
export class UnsealFailed extends Error {
  override readonly name = "UnsealFailed";
}

/** AES-256-GCM. A nonce must never be used twice under one key: 96 random bits are good for 2³² seals (NIST SP 800-38D). */
const cipher = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** The form of what is sealed: `v1.`, then nonce, ciphertext and tag, base64url. */
const version = "v1";

export const createSealing = ({
  keys,
  random,
}: {
  /** 32 bytes each, for this purpose alone: the one that seals, then those that only open. */
  keys: readonly [Buffer, ...Buffer[]];
  random: Random;
}): Sealing => {
  const [current, ...previous] = keys;
  const byId = new Map(keys.map((key) => [keyIdOf(key), key]));
  const keyId = keyIdOf(current);
  return {
    keyId,
    keyIds: [keyId, ...previous.map(keyIdOf)],
    seal: (text, place) => {
      const nonce = random(nonceBytes);
      const closing = createCipheriv(cipher, current, nonce, { authTagLength: tagBytes }).setAAD(
        associatedData(place),
      );
      const parts = [nonce, closing.update(text, "utf8"), closing.final(), closing.getAuthTag()];
      return { sealed: `${version}.${Buffer.concat(parts).toString("base64url")}`, keyId };
    },
    open: (sealed, place) => {
      const key = byId.get(sealed.keyId);
      if (!key) throw new UnsealFailed(`It is sealed under a key that is not here (${sealed.keyId}).`);
      try {
        return decrypt(key, sealed.sealed, place);
      } catch {
        throw new UnsealFailed("It was changed since it was sealed, or sealed for another place.");
      }
    },
  };
};

const decrypt = (key: Buffer, sealed: string, place: SealContext): string => {
  const [form, encoded = ""] = sealed.split(".");
  const bytes = Buffer.from(encoded, "base64url");
  if (form !== version || bytes.length < nonceBytes + tagBytes) throw new UnsealFailed();
  const opening = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(associatedData(place))
    .setAuthTag(bytes.subarray(-tagBytes));
  return Buffer.concat([opening.update(bytes.subarray(nonceBytes, -tagBytes)), opening.final()]).toString();
};

/** What is authenticated beside the text. A list in JSON: no two places are written the same. */
const associatedData = ({ websiteId, engine }: SealContext): Buffer =>
  Buffer.from(JSON.stringify([version, websiteId, engine]));

/** A key of 256 random bits is not to be guessed from its hash. */
const keyIdOf = (key: Buffer): string => hash("sha256", key).slice(0, 16);
