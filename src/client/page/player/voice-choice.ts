import type { Voice, VoiceSelector, Voxledger } from "../../voxledger.ts";

type VoiceQuery = Exclude<VoiceSelector, string | { readonly regex: string }>;

/**
 * The name of the voice that a selector describes; undefined if no voice matches, or without a
 * selector.
 */
export const chooseVoice = async (
  selector: VoiceSelector | undefined,
  voxledger: Pick<Voxledger, "voices">,
): Promise<string | undefined> => {
  if (selector === undefined || typeof selector === "string") return selector;
  try {
    const { voices } = await voxledger.voices();
    const matches = voices.filter(predicateOf(selector));
    return (matches.find(({ deprecated }) => !deprecated) ?? matches[0])?.name;
  } catch {
    return undefined; // the website's own voice speaks instead
  }
};

const predicateOf = (selector: Exclude<VoiceSelector, string>): ((voice: Voice) => boolean) => {
  if (!("regex" in selector)) return (voice) => isVoice(voice, selector);
  const pattern = new RegExp(selector.regex, selector.flags);
  return ({ name }) => name.search(pattern) >= 0;
};

const isVoice = (voice: Voice, { name, lang, gender, isByok, provider }: VoiceQuery): boolean =>
  (name === undefined || voice.name.toLowerCase() === name.toLowerCase()) &&
  (lang === undefined || `${voice.lang}-`.toLowerCase().startsWith(`${lang}-`.toLowerCase())) &&
  (gender === undefined || voice.gender === gender[0]) &&
  (isByok === undefined || (voice.isByok ?? false) === isByok) &&
  (provider === undefined || voice.provider === provider);
