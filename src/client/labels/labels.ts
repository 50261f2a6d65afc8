/*
 * The service serves this module, with the labels of all languages but English, as
 * `/client-labels.js`. Pages in English do not load it, unless they have labels of their own.
 */
import { type LabelName, type LabelOverrides, translationFor } from "./translations.ts";

export type { LabelName, LabelOverrides } from "./translations.ts";

/** Labels, and the language that they are in. */
export interface LocalizedLabels<Name extends LabelName = LabelName> {
  readonly lang: string;
  readonly dir: "ltr" | "rtl";
  readonly labels: Readonly<Record<Name, string>>;
}

interface LabelSources<Name extends LabelName> {
  readonly english: Readonly<Record<Name, string>>;
  /** Later ones have precedence. */
  readonly overrides: readonly LabelOverrides[];
}

/**
 * The labels in the first of these languages that has some, or else in English. A label that the
 * language lacks is English.
 */
export const chooseLabels = <Name extends LabelName>(
  languages: readonly string[],
  { english, overrides }: LabelSources<Name>,
): LocalizedLabels<Name> => {
  for (const tag of [...languages, "en"]) {
    const primary = tag.toLowerCase().replace(/[-_].*/, "");
    const translation = primary === "en" ? { lang: "en", labels: {} } : translationFor(tag);
    const own = overridesFor([primary, translation?.lang ?? tag, tag], overrides);
    const lang = translation?.lang ?? own.at(-1)?.lang;
    if (lang === undefined) continue;
    const labels = Object.assign({}, english, translation?.labels, ...own.map((one) => one.labels));
    return { lang, dir: directionOf(lang), labels };
  }
  throw new TypeError("English has labels."); // not reached
};

/** The labels for one of these tags, in the order of the tags. */
const overridesFor = (tags: readonly string[], overrides: readonly LabelOverrides[]) => {
  const all = overrides.flatMap((byLanguage) => Object.entries(byLanguage));
  return tags.flatMap((tag) =>
    all
      .filter(([lang]) => lang.toLowerCase() === tag.toLowerCase())
      .map(([lang, labels]) => ({ lang, labels })),
  );
};

const directionOf = (lang: string): "ltr" | "rtl" =>
  /^(ar|ckb|dv|fa|he|ps|sd|ug|ur|yi)(-|$)/i.test(lang) ? "rtl" : "ltr";
