import { createCipheriv, createDecipheriv, createSecretKey, hash, type KeyObject } from "node:crypto";
import type { Encrypted } from "../../domain/accounts/event-shapes.ts";
import type { ByokEngine } from "../../domain/synthesis/byok-providers.ts";
import type { Random } from "./identifiers.ts";

/** A website's credentials for an engine, which are encrypted. */
export interface CredentialsOwner {
  readonly websiteId: string;
  readonly engine: ByokEngine;
}

/** A webhook, whose secret is encrypted. */
interface WebhookSecretOwner {
  readonly webhookId: string;
}

/** The installation, whose naming key is encrypted. */
export interface NamingKeyOwner {
  readonly purpose: "naming key";
}

/** A website, whose data key is encrypted. */
export interface DataKeyOwner {
  readonly dataKeyOf: string;
}

/** A website, whose name and origins its data key encrypts. */
interface PersonalDataOwner {
  readonly personalDataOf: string;
}

/**
 * The owner of an encrypted text. It is authenticated as associated data, so the text decrypts for
 * no other owner.
 */
export type SecretOwner =
  | CredentialsOwner
  | WebhookSecretOwner
  | NamingKeyOwner
  | DataKeyOwner
  | PersonalDataOwner;

/** Authenticated encryption: of secrets under the master key, of personal data under data keys. */
export interface CredentialsCipher {
  /** The id of the key that encrypts now. */
  readonly keyId: string;
  /** The ids of all keys, beginning with the one that encrypts. */
  readonly keyIds: readonly [string, ...string[]];
  encrypt(text: string, context: SecretOwner): Encrypted;
  /**
   * Uses the key that the text was encrypted under.
   * @throws {DecryptionFailed}
   */
  decrypt(encrypted: Encrypted, context: SecretOwner): string;
}

/** An encrypted text cannot be decrypted. The message discloses nothing of the text. */
export class DecryptionFailed extends Error {
  override readonly name = "DecryptionFailed";
}

/**
 * AES-256-GCM. A nonce must never repeat under one key: random 96-bit nonces allow 2³² encryptions
 * (NIST SP 800-38D).
 */
const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** Format: `v1.`, then nonce, ciphertext and tag in base64url. */
const version = "v1";

export const createCredentialsCipher = ({
  keys,
  random,
}: {
  /**
   * Keys of 32 bytes, for this purpose only: the current one, then previous ones, which only
   * decrypt.
   */
  keys: readonly [Buffer, ...Buffer[]];
  random: Random;
}): CredentialsCipher => {
  const [current, ...previous] = keys;
  const keyId = keyIdOf(current);
  // Node imports a buffer again at each use, which takes most of the time of a decryption.
  const currentKey = createSecretKey(current);
  const byId = new Map(keys.map((key) => [keyIdOf(key), createSecretKey(key)]));
  return {
    keyId,
    keyIds: [keyId, ...previous.map(keyIdOf)],
    encrypt: (text, context) => {
      const nonce = random(nonceBytes);
      const cipher = createCipheriv(algorithm, currentKey, nonce, { authTagLength: tagBytes }).setAAD(
        associatedData(context),
      );
      const parts = [nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
      return { ciphertext: `${version}.${Buffer.concat(parts).toString("base64url")}`, keyId };
    },
    decrypt: (encrypted, context) => {
      const key = byId.get(encrypted.keyId);
      if (!key) throw new DecryptionFailed(`It is encrypted under an unknown key (${encrypted.keyId}).`);
      try {
        return decryptWith(key, encrypted.ciphertext, context);
      } catch {
        throw new DecryptionFailed(
          "It was changed after it was encrypted, or encrypted for another context.",
        );
      }
    },
  };
};

const decryptWith = (key: KeyObject, ciphertext: string, context: SecretOwner): string => {
  const [form, encoded = ""] = ciphertext.split(".");
  const bytes = Buffer.from(encoded, "base64url");
  if (form !== version || bytes.length < nonceBytes + tagBytes) throw new DecryptionFailed();
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
    .setAAD(associatedData(context))
    .setAuthTag(bytes.subarray(-tagBytes));
  return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]).toString();
};

/** Writes the owner as associated data, in a JSON list, which is unambiguous. */
const associatedData = (owner: SecretOwner): Buffer =>
  Buffer.from(JSON.stringify([version, ...partsOf(owner)]));

const partsOf = (owner: SecretOwner): readonly string[] => {
  if ("purpose" in owner) return [owner.purpose];
  if ("dataKeyOf" in owner) return ["data key", owner.dataKeyOf];
  if ("personalDataOf" in owner) return ["personal data", owner.personalDataOf];
  return "webhookId" in owner ? ["webhook", owner.webhookId] : [owner.websiteId, owner.engine];
};

/** The hash of a 256-bit random key discloses nothing. */
const keyIdOf = (key: Buffer): string => hash("sha256", key).slice(0, 16);
