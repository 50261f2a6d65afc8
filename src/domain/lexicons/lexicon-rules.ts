import { z } from "zod";
import { languageTag } from "../catalog/voice-schema.ts";
import { singleLine } from "../validation.ts";

/** The alphabets of phonemes, by their names in SSML and PLS. */
export const phonemeAlphabets = ["ipa", "x-sampa"] as const;
export type PhonemeAlphabet = (typeof phonemeAlphabets)[number];

export const maxRules = 1_000;
/** An event holds all rules of a lexicon, and every instance keeps them in memory. */
const maxRuleBytes = 128 * 1024;
const maxGraphemeCharacters = 100;
const maxAliasCharacters = 500;

/** Engines receive a rule's texts in XML, which cannot contain these characters. */
const notInXml = /[\ufffe\uffff]|\p{Cs}/u;

const line = (most: number) =>
  singleLine(most)
    .refine((text) => !notInXml.test(text), "The text contains a character that XML does not allow.")
    .normalize("NFC");

const rule = z
  .strictObject({
    grapheme: line(maxGraphemeCharacters).meta({
      description:
        "A whole word or phrase of the text, in the same case. A blank matches any white space, an apostrophe `'`, `’` and `ʼ`.",
      examples: ["W3C"],
    }),
    alias: line(maxAliasCharacters)
      .optional()
      .meta({ description: "The text to speak instead.", examples: ["World Wide Web Consortium"] }),
    // Brackets are not allowed: see the rule of `<phoneme>` in SSML.
    phoneme: z
      .string()
      .regex(/^[^\p{C}[\]]{1,200}$/u, "1 to 200 characters without brackets and control characters.")
      .optional()
      .meta({ description: "The pronunciation, for voices that take phonemes.", examples: ["təˈmɑːtəʊ"] }),
    alphabet: z
      .enum(phonemeAlphabets)
      .optional()
      .meta({ description: "The alphabet of the phoneme. Default `ipa`." }),
  })
  .refine(({ alias, phoneme }) => alias !== undefined || phoneme !== undefined, {
    error: "A rule needs an alias or a phoneme.",
    path: ["alias"],
  })
  .refine(({ alphabet, phoneme }) => alphabet === undefined || phoneme !== undefined, {
    error: "Without a phoneme there is no alphabet.",
    path: ["alphabet"],
  })
  .meta({ id: "LexiconRule", anyOf: [{ required: ["alias"] }, { required: ["phoneme"] }] });

/**
 * A word or phrase, which is spoken as its phoneme if the voice takes phonemes, else as its alias.
 */
export type LexiconRule = Readonly<z.output<typeof rule>>;

/** A lexicon as an operator sends it. */
export const lexiconRules = z.strictObject({
  lang: languageTag.optional().meta({
    description: "Only for voices of this language (`en` includes `en-GB`). Default: for all voices.",
    examples: ["en"],
  }),
  rules: z
    .array(rule)
    .min(1)
    .max(maxRules)
    .refine(
      (rules) => new TextEncoder().encode(JSON.stringify(rules)).length <= maxRuleBytes,
      `The rules are larger than ${maxRuleBytes / 1024} KiB.`,
    ),
});

export interface LexiconRules {
  readonly lang?: string | undefined;
  /** The rules, in order of precedence. */
  readonly rules: readonly LexiconRule[];
}
