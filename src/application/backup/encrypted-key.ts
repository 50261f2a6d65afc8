import { createCipheriv, createDecipheriv, randomBytes, scrypt } from "node:crypto";
import { promisify } from "node:util";
import { z } from "zod";
import { BadBackup } from "./manifest.ts";

/*
 * The master key, encrypted with AES-256-GCM under a key that scrypt (RFC 7914) derives from a
 * passphrase. The parameters make one guess cost 128 MiB of memory.
 */

const derive = promisify<string, Buffer, number, typeof cost, Buffer>(scrypt);
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 ** 2 };
const algorithm = "aes-256-gcm";
const base64 = z.base64().transform((text) => Buffer.from(text, "base64"));

const encryptedKeySchema = z.object({
  format: z.literal(1),
  /** The id of the encrypted key, which is authenticated. */
  keyId: z.string(),
  salt: base64,
  nonce: base64.refine((nonce) => nonce.length === 12),
  ciphertext: base64,
  tag: base64.refine((tag) => tag.length === 16),
});

/** Returns the file's text. */
export const encryptKey = async (key: Buffer, keyId: string, passphrase: string): Promise<string> => {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)];
  const cipher = createCipheriv(algorithm, await derive(passphrase.normalize(), salt, 32, cost), nonce);
  cipher.setAAD(Buffer.from(keyId));
  const ciphertext = Buffer.concat([cipher.update(key), cipher.final()]);
  const parts = { salt, nonce, ciphertext, tag: cipher.getAuthTag() };
  const encoded = Object.entries(parts).map(([name, bytes]) => [name, bytes.toString("base64")]);
  return `${JSON.stringify({ format: 1, keyId, ...Object.fromEntries(encoded) }, null, 2)}\n`;
};

/** @throws {BadBackup} also for a wrong passphrase */
export const decryptKey = async (text: string, passphrase: string): Promise<Buffer> => {
  const { keyId, salt, nonce, ciphertext, tag } = parseFile(text);
  const decipher = createDecipheriv(algorithm, await derive(passphrase.normalize(), salt, 32, cost), nonce);
  decipher.setAAD(Buffer.from(keyId)).setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch (cause) {
    throw new BadBackup(
      "the master key cannot be decrypted: the passphrase is wrong, or the file is damaged",
      {
        cause,
      },
    );
  }
};

/** @throws {BadBackup} */
const parseFile = (text: string) => {
  try {
    return encryptedKeySchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new BadBackup("the file of the master key is damaged", { cause });
  }
};
