/** Other codes of languages, and languages for which the words of another one are used. */
const same: Readonly<Record<string, string>> = {
  ...{ no: "nb", nn: "nb", iw: "he", in: "id", cmn: "zh", sh: "sr" },
  ...{ bpy: "bn", grc: "el", hyw: "hy" },
};

/** The language without region and variants; Cantonese where its region is Hong Kong or Macao. */
export const languageOf = (lang: string): string => {
  const [language = ""] = lang.toLowerCase().split(/[-_]/);
  if (language === "zh" && /[-_](?:hk|mo)\b/i.test(lang)) return "yue";
  return same[language] ?? language;
};
