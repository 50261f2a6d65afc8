import { languageTag } from "../../domain/catalog/voice-schema.ts";
import type { FreeEngine, ShortGender } from "../../domain/synthesis/speech.ts";
import { voiceName } from "../../domain/synthesis/voice-name.ts";
import type { SpeechServer } from "../openai/server.ts";
import { voiceOf } from "../openai/voices.ts";
import type { ProviderVoice } from "../provider.ts";

/** An operator's own OpenAI-compatible speech server. */
export interface SelfHostedServer extends Omit<SpeechServer, "exchange"> {
  readonly voices: readonly SelfHostedVoice[];
}

/** A voice by the server's own name. */
type SelfHostedVoice = ProviderVoice & { readonly lang: string };

export type SelfHostedServers = Readonly<Partial<Record<FreeEngine, SelfHostedServer>>>;

/**
 * Parses `openai:URL?model=…&voices=…&key=…&captions=true`. Voices, separated by commas, are
 * `name`, `name@lang`, `name@lang:f` or `name@lang:m`; what is left out follows from the name if it
 * is one of Kokoro's, and is otherwise en-US and f. A `+` is literal (Kokoro mixes voices with it);
 * other special characters are percent-encoded.
 * @throws {Error} with a message of one line, without the value, which may contain a key
 */
export const parseSelfHosted = (value: string): SelfHostedServer => {
  const url = value.startsWith(scheme) ? URL.parse(value.slice(scheme.length)) : null;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Error(`must be ${scheme}URL, the URL by http or https`);
  if (url.username !== "" || url.password !== "") throw new Error("must contain no credentials except key=");
  const { model, voices, key, captions, ...others } = parametersOf(url.search);
  if (Object.keys(others).length > 0)
    throw new Error("may have only the parameters model=, voices=, key= and captions=");
  if (captions !== undefined && captions !== "true" && captions !== "false")
    throw new Error("must have captions= as true or false");
  if (!model) throw new Error("must name the model=");
  if (!voices) throw new Error("must name its voices=");
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) throw new Error("must have a key= of visible ASCII");
  const baseUrl = `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  return {
    ...{ baseUrl, model, voices: voicesOf(voices) },
    ...(key !== undefined && { apiKey: key }),
    ...(captions === "true" && { captions: true }),
  };
};

const scheme = "openai:";
const maxVoices = 500;

/** Replaces URLSearchParams, which decodes `+` as a space. */
const parametersOf = (search: string): Record<string, string> => {
  const pairs = search
    .slice(1)
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair): [string, string] => {
      const [, name = "", value = ""] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
      return [decoded(name), decoded(value)];
    });
  if (new Set(pairs.map(([name]) => name)).size < pairs.length)
    throw new Error("must not repeat a parameter");
  return Object.fromEntries(pairs);
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error("must write % as %25");
  }
};

const voicesOf = (list: string): SelfHostedVoice[] => {
  const voices = list
    .split(",")
    .filter((one) => one.trim() !== "")
    .map((one, index) => voiceFrom(one.trim(), index));
  if (voices.length === 0 || voices.length > maxVoices)
    throw new Error(`must name 1 to ${maxVoices} voices=`);
  if (new Set(voices.map(({ name }) => name)).size < voices.length)
    throw new Error("must not repeat a voice");
  return voices;
};

const voiceFrom = (spec: string, index: number): SelfHostedVoice => {
  const [, name = "", lang, gender] = /^([^@]*)(?:@([^@:]*)(?::([fm]))?)?$/.exec(spec) ?? [];
  const isGood = voiceName.safeParse(name).success && (!lang || languageTag.safeParse(lang).success);
  if (!isGood || lang === "") {
    throw new Error(`must have its voices= as name, name@lang or name@lang:f (see number ${index + 1})`);
  }
  const defaults = voiceOf(name);
  return {
    name,
    lang: lang ?? defaults.lang ?? "en-US",
    gender: (gender as ShortGender | undefined) ?? defaults.gender,
  };
};
