import type { VoxledgerConfig } from "../voxledger.ts";

type OptionName = keyof VoxledgerConfig;

/** The options that a tag has as attributes with a text. */
export const textOptions = [
  "apiKey",
  "baseUrl",
  "defaultVoice",
  "defaultLang",
  "transport",
  "fallback",
] as const satisfies readonly OptionName[];

/** The options that a tag has as attributes that are present or absent. */
export const flagOptions = ["preferNative", "debug"] as const satisfies readonly OptionName[];

export type TagOption = (typeof textOptions)[number] | (typeof flagOptions)[number];

/** The options in the attributes of a tag, by their names in camel case. */
export const configOf = (attributes: Readonly<Record<string, string | undefined>>): VoxledgerConfig => {
  const texts = textOptions.map((name) => [name, attributes[name]]);
  const flags = flagOptions.map((name) => [name, name in attributes]);
  const given = [...texts, ...flags].filter(([, value]) => value !== undefined);
  return { apiKey: "", ...Object.fromEntries(given) };
};
