const names = new Intl.DisplayNames("en", { type: "language" });

/** In English: "British English"; the tag itself if it has no name. */
export const languageName = (lang: string): string => {
  try {
    return names.of(lang) ?? lang;
  } catch {
    return lang;
  }
};
