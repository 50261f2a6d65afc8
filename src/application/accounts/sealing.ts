import { createCipheriv, createDecipheriv, hash } from "node:crypto";
import type { ByokEngine } from "../../domain/accounts/byok-providers.ts";
import type { Sealed } from "../../domain/accounts/credentials.ts";
import type { Random } from "./identifiers.ts";

/** The owner and purpose of a sealed text, authenticated as associated data: it opens in no other context. */
export interface SealContext {
  readonly websiteId: string;
  readonly engine: ByokEngine;
}

/** Authenticated encryption of credentials. */
export interface Sealing {
  /** The id of the key that seals now. */
  readonly keyId: string;
  /** The ids of all keys, that one first. */
  readonly keyIds: readonly [string, ...string[]];
  seal(text: string, context: SealContext): Sealed;
  /** With the key that it was sealed under. @throws {UnsealFailed} */
  open(sealed: Sealed, context: SealContext): string;
}

/** A sealed text cannot be opened. The message discloses nothing of it. */
export class UnsealFailed extends Error {
  override readonly name = "UnsealFailed";
}

/** AES-256-GCM. A nonce must never repeat under one key: random 96-bit nonces allow 2³² seals (NIST SP 800-38D). */
const cipher = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** Format: `v1.`, then nonce, ciphertext and tag in base64url. */
const version = "v1";

export const createSealing = ({
  keys,
  random,
}: {
  /** 32 bytes each, for this purpose only: the current key, then previous ones, which only open. */
  keys: readonly [Buffer, ...Buffer[]];
  random: Random;
}): Sealing => {
  const [current, ...previous] = keys;
  const byId = new Map(keys.map((key) => [keyIdOf(key), key]));
  const keyId = keyIdOf(current);
  return {
    keyId,
    keyIds: [keyId, ...previous.map(keyIdOf)],
    seal: (text, context) => {
      const nonce = random(nonceBytes);
      const closing = createCipheriv(cipher, current, nonce, { authTagLength: tagBytes }).setAAD(
        associatedData(context),
      );
      const parts = [nonce, closing.update(text, "utf8"), closing.final(), closing.getAuthTag()];
      return { sealed: `${version}.${Buffer.concat(parts).toString("base64url")}`, keyId };
    },
    open: (sealed, context) => {
      const key = byId.get(sealed.keyId);
      if (!key) throw new UnsealFailed(`It is sealed under an unknown key (${sealed.keyId}).`);
      try {
        return decrypt(key, sealed.sealed, context);
      } catch {
        throw new UnsealFailed("It was changed after it was sealed, or sealed for another context.");
      }
    },
  };
};

const decrypt = (key: Buffer, sealed: string, context: SealContext): string => {
  const [form, encoded = ""] = sealed.split(".");
  const bytes = Buffer.from(encoded, "base64url");
  if (form !== version || bytes.length < nonceBytes + tagBytes) throw new UnsealFailed();
  const opening = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(associatedData(context))
    .setAuthTag(bytes.subarray(-tagBytes));
  return Buffer.concat([opening.update(bytes.subarray(nonceBytes, -tagBytes)), opening.final()]).toString();
};

/** The associated data. A JSON list is unambiguous. */
const associatedData = ({ websiteId, engine }: SealContext): Buffer =>
  Buffer.from(JSON.stringify([version, websiteId, engine]));

/** The hash of a 256-bit random key discloses nothing. */
const keyIdOf = (key: Buffer): string => hash("sha256", key).slice(0, 16);
