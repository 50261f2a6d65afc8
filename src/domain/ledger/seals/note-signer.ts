import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { concatBytes, toBase64 } from "../../bytes.ts";
import { keyId, type NoteVerifier, parseVerifierKey, verifierKeyOf } from "./seal-note.ts";

export interface NoteSigner {
  /** The name of the key, which is also the origin of its checkpoints. */
  readonly name: string;
  /** The verifier key: `name+id+key`, to be given to verifiers. */
  readonly verifierKey: string;
  /** The signed note of a text, which must end with a newline. */
  sign(text: string): string;
}

/** A PKCS #8 private key of Ed25519 (RFC 8410) consists of this prefix and the seed. */
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

/** `seed`: 32 bytes. `name`: contains neither white space nor a plus sign. */
export const createNoteSigner = (name: string, seed: Buffer): NoteSigner => {
  const key = Buffer.concat([pkcs8Prefix, seed]);
  const privateKey = createPrivateKey({ key, format: "der", type: "pkcs8" });
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  const publicKey = Buffer.from(x, "base64url");
  const id = keyId(name, publicKey);
  return {
    name,
    verifierKey: verifierKeyOf({ name, id, publicKey }),
    sign: (text) => {
      const signature = sign(null, Buffer.from(text), privateKey);
      return `${text}\n— ${name} ${toBase64(concatBytes(id, signature))}\n`;
    },
  };
};

/**
 * Creates a verifier that uses OpenSSL. Returns undefined for anything but the verifier key of an
 * Ed25519 key.
 */
export const createNoteVerifier = (verifierKey: string): NoteVerifier | undefined => {
  const parsed = parseVerifierKey(verifierKey);
  if (!parsed) return undefined;
  const jwk = { kty: "OKP", crv: "Ed25519", x: Buffer.from(parsed.publicKey).toString("base64url") };
  const key = createPublicKey({ key: jwk, format: "jwk" });
  return { ...parsed, verify: (text, signature) => verify(null, text, key, signature) };
};
