import { languageTag } from "../catalog/voice-schema.ts";
import { Invalid, NotFound } from "../errors.ts";
import { never } from "../never.ts";
import type { EventOf } from "../shape.ts";
import type { ByokEngine } from "../synthesis/byok-providers.ts";
import type { ShortGender } from "../synthesis/speech.ts";
import { voiceName } from "../synthesis/voice-name.ts";
import type { credentialsShapes, Encrypted, ListedVoice } from "./event-shapes.ts";

/**
 * A website's encrypted credentials for BYOK engines. Stream `credentials-{websiteId}`. Times are
 * ISO 8601, UTC.
 */
export type CredentialsEvent = EventOf<typeof credentialsShapes>;

export interface EngineCredentials extends Encrypted {
  /** The name in the table of BYOK providers. */
  readonly provider: string;
  readonly voices: readonly ListedVoice[];
  readonly setAt: string;
  /** Changes when credentials are set, not when they are reencrypted. */
  readonly revision: number;
}

export interface Credentials {
  /** The number of times that credentials were set. */
  readonly settings: number;
  readonly byEngine: Readonly<Partial<Record<ByokEngine, EngineCredentials>>>;
}

const prefix = "credentials-";
export const credentialsStream = (websiteId: string): string => `${prefix}${websiteId}`;
export const websiteOfCredentials = (stream: string): string => stream.slice(prefix.length);

export const initialCredentials = (): Credentials => ({ settings: 0, byEngine: {} });

export const evolveCredentials = (credentials: Credentials, event: CredentialsEvent): Credentials => {
  const { settings, byEngine } = credentials;
  switch (event.type) {
    case "CredentialsSet": {
      const { engine, at, ...rest } = event.data;
      const revision = settings + 1;
      return { settings: revision, byEngine: { ...byEngine, [engine]: { ...rest, setAt: at, revision } } };
    }
    case "CredentialsReencrypted": {
      const { engine, ciphertext, keyId } = event.data;
      const was = byEngine[engine];
      return was
        ? { settings, byEngine: { ...byEngine, [engine]: { ...was, ciphertext, keyId } } }
        : credentials;
    }
    case "CredentialsRemoved": {
      const { [event.data.engine]: _removed, ...others } = byEngine;
      return { settings, byEngine: others };
    }
    default:
      return never(event, credentials);
  }
};

export const credentialsDecider = { initial: initialCredentials, evolve: evolveCredentials };

/**
 * Always returns an event, even for equal credentials, because the provider has listed its voices
 * again.
 */
export const setCredentials = (
  _credentials: Credentials,
  set: { engine: ByokEngine; provider: string; voices: readonly ListedVoice[]; at: string } & Encrypted,
): CredentialsEvent[] => [{ type: "CredentialsSet", data: set }];

/** Returns no event if the credentials were replaced after they were opened (`was`). */
export const reencryptCredentials = (
  { byEngine }: Credentials,
  { was, ...reencrypted }: { engine: ByokEngine; was: string; at: string } & Encrypted,
): CredentialsEvent[] =>
  byEngine[reencrypted.engine]?.ciphertext === was
    ? [{ type: "CredentialsReencrypted", data: reencrypted }]
    : [];

/** Returns no event if the credentials were replaced after it was found that no key opens them. */
export const dropCredentials = (
  { byEngine }: Credentials,
  { engine, was, at }: { engine: ByokEngine; was: string; at: string },
): CredentialsEvent[] =>
  byEngine[engine]?.ciphertext === was ? [{ type: "CredentialsRemoved", data: { engine, at } }] : [];

/** @throws {NotFound} */
export const removeCredentials = (
  { byEngine }: Credentials,
  { engine, at }: { engine: ByokEngine; at: string },
): CredentialsEvent[] => {
  if (!byEngine[engine]) throw new NotFound(`The website has no credentials for the engine ${engine}.`);
  return [{ type: "CredentialsRemoved", data: { engine, at } }];
};

/**
 * One event holds the whole list, and event stores limit events to 1 MiB. No known provider's list
 * is this large.
 */
const maxListBytes = 768 * 1024;

/**
 * Selects the voices of a provider's list that are valid in a catalog, each name once.
 * @throws {Invalid} if there are none, or too many
 */
export const usableVoices = (
  listed: Iterable<{ name: string; lang: string | undefined; gender: ShortGender }>,
): readonly ListedVoice[] => {
  const byName = new Map<string, ListedVoice>();
  for (const { name, lang, gender } of listed) {
    const isUsable =
      voiceName.safeParse(name).success && (lang === undefined || languageTag.safeParse(lang).success);
    if (isUsable && !byName.has(name))
      byName.set(name, { name, ...(lang !== undefined && { lang }), gender });
  }
  const voices = [...byName.values()];
  if (voices.length === 0) throw refused("The provider lists no voice that can be used.");
  const bytes = new TextEncoder().encode(JSON.stringify(voices)).length;
  if (bytes > maxListBytes) throw refused("The provider lists more voices than can be kept.");
  return voices;
};

const refused = (message: string): Invalid => new Invalid([{ path: [], message }]);
