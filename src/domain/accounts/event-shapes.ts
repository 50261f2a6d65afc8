import {
  anyObject,
  count,
  listOf,
  nullable,
  object,
  optional,
  type ShapesOf,
  text,
  utcTime,
} from "../shape.ts";
import type { CredentialsEvent, ListedVoice } from "./credentials.ts";
import type { KeyEvent } from "./key.ts";
import type { MasterKeyRecorded } from "./master-key.ts";
import type { Plan } from "./plan.ts";
import type { WebsiteEvent } from "./website.ts";

const at = utcTime;
const plan = object<Plan>({ tier: text, requestsPerMinute: count, monthlyCharacters: nullable(count) });
const origins = listOf(text);
const encrypted = { ciphertext: text, keyId: text };
const listedVoice = object<ListedVoice>({ name: text, lang: optional(text), gender: text });

export const accountsShapes: ShapesOf<WebsiteEvent | KeyEvent | CredentialsEvent | MasterKeyRecorded> = {
  MasterKeyRecorded: { keyId: text, at },

  WebsiteRegistered: { websiteId: text, name: text, origins, at },
  WebsiteConfigured: { config: anyObject, at },
  OriginsChanged: { origins, at },
  OriginVerificationIssued: { hash: text, origin: text, expiresAt: utcTime, at },
  OriginVerified: { hash: text, origin: text, at },

  KeyIssued: { apiKey: text, websiteId: text, plan, at },
  SecretCreated: { secretId: text, hash: text, at },
  SecretRevoked: { secretId: text, at },
  PlanChanged: { plan, at },
  KeySuspended: { cause: text, reason: text, at },
  KeyReinstated: { reason: text, at },

  CredentialsSet: { engine: text, provider: text, voices: listOf(listedVoice), ...encrypted, at },
  CredentialsReencrypted: { engine: text, ...encrypted, at },
  CredentialsRemoved: { engine: text, at },
};
