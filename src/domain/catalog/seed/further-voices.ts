/**
 * Accents and languages for which no engine has a voice. Browsers may have one. Over HTTP they are
 * spoken by the voices of `spokenAs`. Filipino is spoken by Indonesian voices, because its spelling
 * is similar. The numbers continue those of `languages`.
 */
export type Accent = readonly [number: number, lang: string, spokenAs: string, name: string, flag: string];

export const accents: readonly Accent[] = [
  [129, "en-AU", "en-GB", "Australian", "au"],
  [130, "fr-CA", "fr-FR", "French Canadian", "ca"],
  [131, "zh-TW", "zh-CN", "Chinese Taiwan", "tw"],
  [132, "bn-IN", "bn-BD", "Bangla India", "in"],
  [133, "fil-PH", "id-ID", "Filipino", "ph"],
  [134, "ro-MD", "ro-RO", "Moldavian", "md"],
  [135, "sr-ME", "sr-RS", "Montenegrin", "me"],
  // The canonical code of Serbo-Croatian (`sh`).
  [136, "sr-Latn", "sr-RS", "Serbo-Croatian", "rs"],
];

/** Alternative names of the same voices, as other services use them. */
export const otherNames: readonly (readonly [name: string, of: string])[] = [
  ["Bangla Bangladesh Female", "Bengali Female"],
  ["Bangla Bangladesh Male", "Bengali Male"],
  ["Chinese (Hong Kong) Female", "Cantonese Female"],
  ["Chinese (Hong Kong) Male", "Cantonese Male"],
  ["Deutsch Female", "German Female"],
  ["Deutsch Male", "German Male"],
  ["Nepali", "Nepali Female"],
  ["Sinhala", "Sinhala Female"],
  ["Spanish Latin American Female", "Latin American Spanish Female"],
  ["Spanish Latin American Male", "Latin American Spanish Male"],
];
