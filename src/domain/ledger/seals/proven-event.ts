import { hash } from "node:crypto";
import type { EpochMs } from "../../time.ts";
import { canonicalJson } from "../journal/canonical.ts";

/** An event as exports contain it and seals cover it. */
export interface ProvenEvent {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  /** The time at which the store appended it. */
  readonly created: EpochMs;
  /** The data, without what is withheld. */
  readonly data: object;
  readonly metadata: object;
}

/** Members that an auditor does not need, but an attacker could use. */
const withheld: ReadonlyMap<string, string> = new Map([
  ["SecretCreated", "hash"],
  ["CredentialsSet", "ciphertext"],
  ["CredentialsReencrypted", "ciphertext"],
  ["WebhookAdded", "ciphertext"],
  ["WebhookSecretRotated", "ciphertext"],
  ["WebhookSecretReencrypted", "ciphertext"],
  ["DataKeyCreated", "ciphertext"],
  ["DataKeyReencrypted", "ciphertext"],
]);

export const withheldMember = (type: string): string | undefined => withheld.get(type);

/**
 * Replaces a withheld member with its SHA-256. Ciphertexts, and the hashes of secrets, have 256
 * random bits or more, so the digest discloses nothing.
 */
export const provenEvent = ({
  position,
  stream,
  revision,
  id,
  type,
  created,
  data,
  metadata,
}: ProvenEvent): ProvenEvent => ({
  position,
  stream,
  revision,
  id,
  type,
  created,
  data: committed(type, data),
  metadata,
});

const committed = (type: string, data: object): object => {
  const member = withheldMember(type);
  if (member === undefined) return data;
  const value = Reflect.get(Object(data), member);
  return value === undefined ? data : { ...data, [member]: { sha256: hash("sha256", canonicalJson(value)) } };
};
