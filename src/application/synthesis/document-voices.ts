import type { CatalogIndex } from "../../domain/catalog/catalog-index.ts";
import { type Candidate, quote, voicesNamed } from "../../domain/catalog/voice-resolution.ts";
import { Invalid } from "../../domain/errors.ts";
import { isByok } from "../../domain/synthesis/byok-providers.ts";
import { type Dialect, parseSsml } from "../../domain/text/ssml.ts";
import type { Engine } from "../../engines/engine.ts";

/** A document for one voice. */
interface VoicedDocument {
  /** Canonical SSML, in which voices have the names by which the engine knows them. */
  readonly document: string;
  /** The dialect that the document was parsed in. */
  readonly dialect: Dialect;
  /** The other voices that it names. */
  readonly voices: readonly string[];
}

/**
 * Writes the document for a candidate. A `<voice>` may name any voice of the website's catalog that
 * the candidate's engine speaks: for a provider, its own voices; for a local engine, all local
 * ones.
 * @throws {Invalid} for `text`, if the document is invalid, or names another voice
 */
export const documentFor = (
  text: string,
  { engine, ...own }: Omit<Candidate, "engine"> & { readonly engine: Engine },
  catalog: CatalogIndex,
): VoicedDocument => {
  const { voiceName, lang, label, systemVoice } = own;
  const voices = new Set<string>();
  const find = (name: string): Pick<Candidate, "voiceName" | "lang"> => {
    if (name === label || name === systemVoice.name || name === voiceName) return own;
    const named = voicesNamed(catalog, name, lang);
    if (named.length === 0) throw refusal(`There is no voice named ${quote(name)}`);
    const able = named.find((one) => isWithin(engine, one) && engine.takesSsml(one.voiceName));
    if (able) return able;
    throw refusal(`The voice ${quote(name)} cannot speak in the same text as the voice ${quote(label)}`);
  };
  const dialect: Dialect = {
    voiceNamed: (name, _, outer) => {
      const found = find(name);
      if (found.voiceName === voiceName && !outer.voice) return undefined;
      if (found.voiceName !== voiceName) voices.add(found.voiceName);
      return { name: found.voiceName, lang: isByok(engine.code) ? undefined : found.lang };
    },
    mstts: engine.takesMstts?.(voiceName) ?? false,
  };
  return { document: parseSsml(text, undefined, dialect), dialect, voices: [...voices] };
};

const isWithin = ({ code }: Engine, { engine }: Candidate): boolean =>
  isByok(code) ? engine === code : !isByok(engine);

const refusal = (message: string): Invalid => new Invalid([{ path: ["text"], message: `${message}.` }]);
