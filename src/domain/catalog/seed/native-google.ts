/** Chrome's voices on desktops, which work offline after they are downloaded. */
export const chromeNatural = [
  ["de-DE", "Deutsch 1 f, Deutsch 2 f, Deutsch 3 m, Deutsch 4 m"],
  ["en-AU", "Australian English 1 f, Australian English 3 f, Australian English 2 m, Australian English 4 m"],
  ["en-GB", "UK English 2 f, UK English 4 f, UK English 1 m, UK English 3 m"],
  ["en-US", "US English 5 f, US English 1 f, US English 4 m, US English 3 m"],
  ["es-ES", "español 4 f, español 1 f, español 3 m, español 5 m"],
  ["es-US", "español de Estados Unidos 1 f, español de Estados Unidos 3 m"],
  ["fr-FR", "français 4 f, français 2 f, français 5 m, français 3 m"],
  ["hi-IN", "हिन्दी 1 f"],
  ["hu-HU", "Magyar f"],
  ["id-ID", "Bahasa Indonesia 1 f, Bahasa Indonesia 3 m"],
  ["it-IT", "italiano 2 f, italiano 1 f, italiano 3 m, italiano 4 m"],
  ["ja-JP", "日本語 1 f, 日本語 3 m"],
  ["nl-NL", "Nederlands 4 f, Nederlands 5 f, Nederlands 2 m, Nederlands 3 m"],
  ["pl-PL", "Polski 1 f, Polski 2 f, Polski 3 m, Polski 4 m"],
  ["pt-BR", "português do Brasil 1 f, português do Brasil 3 f, português do Brasil 2 m"],
  ["pt-PT", "português de Portugal 1 f, português de Portugal 4 f, português de Portugal 2 m"],
] as const;

/** The same voices under their earlier names in ChromeOS. */
export const chromeOs = [
  ["de-DE", "Deutsch 2 f, Deutsch 3 m"],
  ["en-GB", "UK English 2 f, UK English 1 m"],
  ["en-US", "US English 5 f, US English 4 m"],
  ["es-ES", "español 4 f, español 3 m"],
  ["fr-FR", "français 4 f, français 5 m"],
  ["it-IT", "italiano 2 f, italiano 3 m"],
] as const;

/**
 * Network voices of Chrome on desktops. Chromium and Chrome on Android and iOS do not have them.
 */
export const chrome = [
  ["de-DE", "Deutsch f"],
  ["en-GB", "UK English Female f, UK English Male m"],
  ["en-US", "US English f"],
  ["es-ES", "español m"],
  ["es-US", "español de Estados Unidos f"],
  ["fr-FR", "français f"],
  ["hi-IN", "हिन्दी f"],
  ["id-ID", "Bahasa Indonesia f"],
  ["it-IT", "italiano f"],
  ["ja-JP", "日本語 f"],
  ["ko-KR", "한국의 f"],
  ["nl-NL", "Nederlands f"],
  ["pl-PL", "polski f"],
  ["pt-BR", "português do Brasil f"],
  ["ru-RU", "русский f"],
  ["zh-CN", "普通话（中国大陆） f"],
  ["zh-HK", "粤語（香港） f"],
  ["zh-TW", "國語（臺灣） f"],
] as const;

/**
 * Browsers on Android list one voice per language, named by language and country in the device's
 * language. Listed here are the English and the native names. The device's settings select the
 * speaker; Google's and Samsung's default is female.
 */
export const android = [
  ["bn-BD", "Bangla Bangladesh f, বাংলা বাংলাদেশ f"],
  ["bn-IN", "Bangla India f, বাংলা ভারত f"],
  ["cs-CZ", "Czech Czechia f, čeština Česko f"],
  ["da-DK", "Danish Denmark f, dansk Danmark f"],
  ["de-DE", "German Germany f, Deutsch Deutschland f"],
  ["el-GR", "Greek Greece f, Ελληνικά Ελλάδα f"],
  ["en-AU", "English Australia f"],
  ["en-GB", "English United Kingdom f"],
  ["en-US", "English United States f"],
  ["es-ES", "Spanish Spain f, español España f"],
  ["es-US", "Spanish United States f, español Estados Unidos f"],
  ["fi-FI", "Finnish Finland f, suomi Suomi f"],
  ["fil-PH", "Filipino Philippines f, Filipino Pilipinas f"],
  ["fr-CA", "French Canada f, français Canada f"],
  ["fr-FR", "French France f, français France f"],
  ["hi-IN", "Hindi India f, हिन्दी भारत f"],
  ["hu-HU", "Hungarian Hungary f, magyar Magyarország f"],
  ["id-ID", "Indonesian Indonesia f, Indonesia Indonesia f"],
  ["it-IT", "Italian Italy f, italiano Italia f"],
  ["ja-JP", "Japanese Japan f, 日本語 日本 f"],
  ["ko-KR", "Korean South Korea f, 한국어 대한민국 f"],
  ["nb-NO", "Norwegian Bokmål Norway f, norsk bokmål Norge f"],
  ["ne-NP", "Nepali Nepal f, नेपाली नेपाल f"],
  ["nl-NL", "Dutch Netherlands f, Nederlands Nederland f"],
  ["pl-PL", "Polish Poland f, polski Polska f"],
  ["pt-BR", "Portuguese Brazil f, português Brasil f"],
  ["pt-PT", "Portuguese Portugal f, português Portugal f"],
  ["ru-RU", "Russian Russia f, русский Россия f"],
  ["si-LK", "Sinhala Sri Lanka f"],
  ["sk-SK", "Slovak Slovakia f, slovenčina Slovensko f"],
  ["sv-SE", "Swedish Sweden f, svenska Sverige f"],
  ["th-TH", "Thai Thailand f, ไทย ไทย f"],
  ["tr-TR", "Turkish Türkiye f, Türkçe Türkiye f"],
  ["uk-UA", "Ukrainian Ukraine f, українська Україна f"],
  ["vi-VN", "Vietnamese Vietnam f, Tiếng Việt Việt Nam f"],
  ["zh-CN", "Chinese China f, 中文 中国 f"],
  ["zh-HK", "Cantonese Hong Kong f, 粵語 香港 f"],
  ["zh-TW", "Chinese Taiwan f, 中文 台灣 f"],
] as const;
