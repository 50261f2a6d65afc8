import {
  anyObject,
  type Check,
  type Checked,
  code,
  count,
  type DataOf,
  listOf,
  type MembersOf,
  nullable,
  object,
  optional,
  text,
  utcTime,
} from "../shape.ts";
import type { ByokEngine } from "../synthesis/byok-providers.ts";
import type { ShortGender, TextFormat } from "../synthesis/speech.ts";
import type { Plan, Tier } from "./plan.ts";
import type { StoredConfig } from "./website-config.ts";

const at = utcTime;

/**
 * `application/accounts/encrypt-websites.ts` encrypts the members that `personalMembers` lists.
 */
export const websiteShapes = {
  WebsiteRegistered: { websiteId: text, name: text, origins: listOf(text), at },
  /** `textFormat` is not in `config`, because version 0.2.0 refuses unknown members there. */
  WebsiteConfigured: {
    config: anyObject as Check<Omit<StoredConfig, "textFormat">>,
    textFormat: optional(code<TextFormat>()),
    at,
  },
  WebsiteRenamed: { name: text, at },
  OriginsChanged: { origins: listOf(text), at },
  /** `hash`: SHA-256 of the verification token, hexadecimal; the token itself is never kept. */
  OriginVerificationIssued: { hash: text, origin: text, expiresAt: utcTime, at },
  /**
   * The token with this hash was presented from the origin: it is consumed, and the origin added.
   */
  OriginVerified: { hash: text, origin: text, at },
  /** The website's data key is deleted after this event, and nothing follows it. */
  WebsiteErased: { at },
};

/** The members of a website's events that name a person or host, by event type. */
export const personalMembers: ReadonlyMap<string, readonly string[]> = new Map([
  ["WebsiteRegistered", ["name", "origins"]],
  ["WebsiteRenamed", ["name"]],
  ["OriginsChanged", ["origins"]],
  ["OriginVerificationIssued", ["origin"]],
  ["OriginVerified", ["origin"]],
]);

const plan = object({
  tier: code<Tier>(),
  requestsPerMinute: count,
  monthlyCharacters: nullable(count),
} satisfies MembersOf<Plan>);

/** A higher quota ends a suspension by `quota`. An operator can end any suspension. */
export type SuspensionCause = "quota" | "operator";

export const keyShapes = {
  KeyIssued: { apiKey: text, websiteId: text, plan, at },
  /** `hash`: SHA-256 of the secret, hexadecimal; the secret itself is never kept. */
  SecretCreated: { secretId: text, hash: text, at },
  SecretRevoked: { secretId: text, at },
  PlanChanged: { plan, at },
  KeySuspended: { cause: code<SuspensionCause>(), reason: text, at },
  KeyReinstated: { reason: text, at },
};

/** An encrypted text, and the id of the key under which it is encrypted. */
export const encrypted = { ciphertext: text, keyId: text };
export type Encrypted = DataOf<typeof encrypted>;

/** The key of a website's personal members. Stream `data-key-{websiteId}`, which is not sealed. */
export const dataKeyShapes = {
  DataKeyCreated: { ...encrypted, at },
  /** The same key under another master key. */
  DataKeyReencrypted: { ...encrypted, at },
};

export const masterKeyShapes = {
  MasterKeyRecorded: { keyId: text, at },
  /**
   * Exports and seals contain the ciphertext itself instead of its digest, because earlier versions
   * seal it in this form.
   */
  NamingKeyCreated: { ...encrypted, at },
  /** The same key under another master key. */
  NamingKeyReencrypted: { ...encrypted, at },
  /** An operator says that this key is lost. An instance that has it objects. */
  MasterKeyLossReported: { reportId: text, keyId: text, at },
  /** `instance`: the id of the instance that objected to the report. */
  MasterKeyFound: { reportId: text, keyId: text, instance: text, at },
  /** The key `lostKeyId` is lost. What only that key decrypts is removed. */
  MasterKeyReplaced: { reportId: text, lostKeyId: text, keyId: text, reason: text, at },
};

/** A voice under the name that its provider gives it. Without `lang` it speaks any language. */
const listedVoice = object({ name: text, lang: optional(text), gender: code<ShortGender>() });
export type ListedVoice = Checked<typeof listedVoice>;

const engine = code<ByokEngine>();

export const credentialsShapes = {
  /** The provider accepted the credentials and listed these voices. */
  CredentialsSet: { engine, provider: text, voices: listOf(listedVoice), ...encrypted, at },
  /** The same credentials under another key. */
  CredentialsReencrypted: { engine, ...encrypted, at },
  CredentialsRemoved: { engine, at },
};
