const names = new Intl.DisplayNames("en", { type: "language" });

/**
 * In English: "British English"; the tag itself if it has no name. A private part of the tag
 * (`-x-`) follows in parentheses.
 */
export const languageName = (lang: string): string => {
  const [tag = lang, part] = lang.split("-x-");
  try {
    const name = names.of(tag) ?? tag;
    return part === undefined ? name : `${name} (${part})`;
  } catch {
    return lang;
  }
};
