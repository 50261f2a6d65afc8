import type { NativeVoice } from "../domain/native-voice.ts";

/*
 * Voices that browsers bring with them, by the names that `speechSynthesis.getVoices()` gives them there. Not all there
 * are: those that came with every release for years. What else there is, clients report.
 */

type Row = readonly [lang: string, names: string];

/** Of macOS and iOS, in every browser there. */
const apple: readonly Row[] = [
  ["ar-001", "Majed"],
  ["cs-CZ", "Zuzana"],
  ["da-DK", "Sara"],
  ["de-DE", "Anna"],
  ["el-GR", "Melina"],
  ["en-AU", "Karen"],
  ["en-GB", "Daniel"],
  ["en-IE", "Moira"],
  ["en-IN", "Rishi"],
  ["en-US", "Samantha"],
  ["en-ZA", "Tessa"],
  ["es-ES", "Mónica"],
  ["es-MX", "Paulina"],
  ["fi-FI", "Satu"],
  ["fr-CA", "Amélie"],
  ["fr-FR", "Thomas"],
  ["he-IL", "Carmit"],
  ["hi-IN", "Lekha"],
  ["id-ID", "Damayanti"],
  ["it-IT", "Alice"],
  ["ja-JP", "Kyoko"],
  ["ko-KR", "Yuna"],
  ["nb-NO", "Nora"],
  ["nl-BE", "Ellen"],
  ["nl-NL", "Xander"],
  ["pl-PL", "Zosia"],
  ["pt-BR", "Luciana"],
  ["pt-PT", "Joana"],
  ["ro-RO", "Ioana"],
  ["ru-RU", "Milena"],
  ["sk-SK", "Laura"],
  ["sv-SE", "Alva"],
  ["th-TH", "Kanya"],
  ["tr-TR", "Yelda"],
];

/** Of macOS alone. */
const mac: readonly Row[] = [["en-US", "Alex, Fred"]];

/** Of Windows 10 and 11, in every browser there. */
const windows: readonly Row[] = [
  ["de-DE", "Microsoft Hedda, Microsoft Katja, Microsoft Stefan"],
  ["en-GB", "Microsoft George, Microsoft Hazel, Microsoft Susan"],
  ["en-US", "Microsoft David, Microsoft Mark, Microsoft Zira"],
  ["es-ES", "Microsoft Helena, Microsoft Laura, Microsoft Pablo"],
  ["es-MX", "Microsoft Raul, Microsoft Sabina"],
  ["fr-FR", "Microsoft Hortense, Microsoft Julie, Microsoft Paul"],
  ["it-IT", "Microsoft Cosimo, Microsoft Elsa"],
  ["ja-JP", "Microsoft Ayumi, Microsoft Haruka, Microsoft Ichiro"],
  ["ko-KR", "Microsoft Heami"],
  ["pl-PL", "Microsoft Paulina"],
  ["pt-BR", "Microsoft Daniel, Microsoft Maria"],
  ["ru-RU", "Microsoft Irina, Microsoft Pavel"],
  ["zh-CN", "Microsoft Huihui, Microsoft Kangkang, Microsoft Yaoyao"],
  ["zh-HK", "Microsoft Tracy"],
  ["zh-TW", "Microsoft Hanhan, Microsoft Yating, Microsoft Zhiwei"],
];

/** Of Chrome on desktops, over the network. Not of Chromium, nor of Chrome on Android and iOS. */
const chrome: readonly Row[] = [
  ["de-DE", "Google Deutsch"],
  ["en-GB", "Google UK English Female, Google UK English Male"],
  ["en-US", "Google US English"],
  ["es-ES", "Google español"],
  ["es-US", "Google español de Estados Unidos"],
  ["fr-FR", "Google français"],
  ["hi-IN", "Google हिन्दी"],
  ["id-ID", "Google Bahasa Indonesia"],
  ["it-IT", "Google italiano"],
  ["ja-JP", "Google 日本語"],
  ["ko-KR", "Google 한국의"],
  ["nl-NL", "Google Nederlands"],
  ["pl-PL", "Google polski"],
  ["pt-BR", "Google português do Brasil"],
  ["ru-RU", "Google русский"],
  ["zh-CN", "Google 普通话（中国大陆）"],
  ["zh-HK", "Google 粤語（香港）"],
  ["zh-TW", "Google 國語（臺灣）"],
];

const voicesOf = (rows: readonly Row[], on: NativeVoice["on"]): NativeVoice[] =>
  rows.flatMap(([lang, names]) => names.split(", ").map((name) => ({ name, lang, on })));

export const nativeVoices: readonly NativeVoice[] = [
  ...voicesOf(apple, [{ os: "macos" }, { os: "ios" }]),
  ...voicesOf(mac, [{ os: "macos" }]),
  ...voicesOf(windows, [{ os: "windows" }]),
  ...voicesOf(chrome, [
    { browser: "chrome", os: "windows" },
    { browser: "chrome", os: "macos" },
    { browser: "chrome", os: "linux" },
  ]),
];
