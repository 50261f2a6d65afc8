import { cardinal, decimal, spellDigits, year } from "./number-words.ts";
import { anyOf, type Dialect, type Rule } from "./rule.ts";

const signs: Readonly<Record<string, string>> = {
  ".": "dot",
  "/": "slash",
  "\\": "backslash",
  "-": "dash",
  _: "underscore",
  "@": "at",
  ":": "colon",
  "?": "question mark",
  "=": "equals",
  "&": "and",
  "#": "hash",
  "+": "plus",
  "%": "percent",
  "~": "tilde",
};

const domains = anyOf(
  "com org net edu gov info biz dev app shop online io ai co tv uk de fr eu ca au nl se ch nz",
);
const files = anyOf(
  "pdf html htm css js mjs ts tsx jsx py rb php java go rs cpp cs sh md txt rtf csv tsv xml json yaml yml toml ini cfg conf " +
    "jpg jpeg png gif svg webp bmp ico mp3 mp4 wav ogg flac mov avi mkv doc docx xls xlsx ppt pptx odt epub zip tar gz tgz " +
    "rar exe dll bat bin apk iso dmg deb rpm sql db log bak tmp lock",
);
/** Endings that are read as words; the others are read letter by letter. */
const words = anyOf(
  "com org net gov info biz dev app shop online co java go json yaml toml conf jpeg gif wav doc zip tar bat bin log bak lock",
);
const isWord = new RegExp(`^${words}$`, "i");

/** Tools read "P.D.F" as letters. */
const ending = (written: string): string =>
  isWord.test(written) || written.length > 4
    ? written
    : /\d/.test(written)
      ? written.toUpperCase()
      : Array.from(written.toUpperCase()).join(".");

const digits = (written: string, dialect: Dialect): string => {
  if (written.length > 4 || /^0./.test(written)) return spellDigits(written);
  return /^(?:19|20)\d\d$/.test(written) ? year(written, dialect) : cardinal(written, dialect);
};

/** Spells an address by its words, numbers and signs. */
const spell = (address: string, dialect: Dialect): string =>
  Array.from(address.matchAll(/\p{L}[\p{L}\p{M}]*|\d+|./gsu), ([part]) =>
    /^\d/.test(part) ? digits(part, dialect) : (signs[part] ?? part),
  ).join(" ");

/** Spells a name that has an ending: a domain, or the name of a file. */
const spellWithEnding = (name: string, dialect: Dialect): string => {
  const at = name.lastIndexOf(".");
  if (at === -1) return spell(name, dialect);
  const before = at === 0 ? "" : `${spell(name.slice(0, at), dialect)} `;
  return `${before}dot ${ending(name.slice(at + 1))}`;
};

/** Spells a host, for example "dot co dot U.K" for its last labels. */
const spellHost = (host: string, dialect: Dialect): string =>
  host
    .replace(/^www\./i, "")
    .split(".")
    .map((label, index, labels) =>
      index > 0 && index === labels.length - 1 ? ending(label) : spell(label, dialect),
    )
    .join(" dot ");

/**
 * Reads the host, the port and the path. A query and fragment are read too, unless they are too
 * long for a listener.
 */
const sayUrl = (host: string, port: string, path: string, dialect: Dialect): string => {
  const [, plain = "", query = ""] = /^([^?#]*)(.*)$/s.exec(path) ?? [];
  const trimmed = plain.replace(/\/$/, "");
  return [
    spellHost(host, dialect),
    port && `colon ${digits(port.slice(1), dialect)}`,
    trimmed && (new RegExp(`\\.${files}$`, "i").test(trimmed) ? spellWithEnding : spell)(trimmed, dialect),
    query.length <= 20 && spell(query, dialect),
  ]
    .filter(Boolean)
    .join(" ");
};

const hashtag = (tag: string, dialect: Dialect): string =>
  `hashtag ${tag
    .replace(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{L})(?=\d)|(?<=\d)(?=\p{L})|_+/gu, " ")
    .replace(/\d+/g, (number) => digits(number, dialect))
    .trim()}`;

type Kind = readonly [RegExp, (parts: RegExpExecArray, dialect: Dialect) => string | undefined];

const host = String.raw`[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*`;

/** The first kind that fits is used. */
const kinds: readonly Kind[] = [
  [
    new RegExp(String.raw`^(?:https?|ftp|wss?):\/\/(${host})(:\d+)?([/?#].*)?$`, "isu"),
    ([, host = "", port = "", path = ""], dialect) => sayUrl(host, port, path, dialect),
  ],
  [
    new RegExp(String.raw`^(?:mailto:)?([\p{L}\p{N}.+%_-]+)@(${host}\.\p{L}{2,})$`, "isu"),
    ([, name = "", host = ""], dialect) => `${spell(name, dialect)} at ${spellHost(host, dialect)}`,
  ],
  [
    new RegExp(String.raw`^(www\.${host}|${host}\.${domains})(:\d+)?([/?#].*)?$`, "su"),
    ([, host = "", port = "", path = ""], dialect) => sayUrl(host, port, path, dialect),
  ],
  [
    /^(\d{1,3}(?:\.\d{1,3}){3})(:\d+)?(\/\d{1,2})?$/,
    ([, address = "", port, mask], dialect) =>
      [
        address.split(".").map(spellDigits).join(" dot "),
        port && `colon ${spellDigits(port)}`,
        mask && `slash ${cardinal(mask.slice(1), dialect)}`,
      ]
        .filter(Boolean)
        .join(" "),
  ],
  [
    // Dates and phone numbers have such points too.
    /^(?!\d{1,2}\.\d{1,2}\.\d{4}$|\d{4}\.\d{1,2}\.\d{1,2}$|\d{3}\.\d{3}\.\d{4}$)(?:v(?=\d)|V(?=\d+\.\d)|(?=\d+\.\d+\.))(\d{1,8}(?:\.\d{1,8})*)(?:[-+](\p{L}+)[.-]?(\d{1,4})?)?$/u,
    ([token, number = "", label, count], dialect) =>
      [
        /^v/i.test(token) && "version",
        number
          .split(".")
          .map((part) => cardinal(part, dialect))
          .join(" point "),
        label,
        count && cardinal(count, dialect),
      ]
        .filter(Boolean)
        .join(" "),
  ],
  [/^#(\d{1,6})$/, ([, count = ""], dialect) => `number ${decimal(count, dialect)}`],
  [/^#(\p{L}[\p{L}\p{M}\p{N}_]*)$/u, ([, tag = ""], dialect) => hashtag(tag, dialect)],
  [
    /^@([\p{L}\p{N}_][\p{L}\p{N}_.-]*(?:\/[\p{L}\p{N}_.-]+)?)$/u,
    ([handle], dialect) => spell(handle, dialect),
  ],
  [/^([ACFJ])#$/, ([, language]) => `${language} sharp`],
  [/^([CG])\+\+$/, ([, language]) => `${language} plus plus`],
  [/^(ASP)?\.NET$/, ([, before]) => `${before ? `${before} ` : ""}dot net`],
  [
    new RegExp(String.raw`^[\p{L}\p{N}_.@~/\\+-]*[\p{L}\p{N}_-]\.${files}$`, "iu"),
    ([file], dialect) => spellWithEnding(file, dialect),
  ],
  [
    /^(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][\p{L}\p{N}_.@+-]+){2,}[/\\]?$/u,
    ([path], dialect) => spell(path.replace(/[/\\]$/, ""), dialect),
  ],
];

const limits = String.raw`\s<>"'“”‘’()\[\]{}|,;`;

/** A run without blanks, brackets and quotes, and without punctuation at its end. */
const token = new RegExp(
  String.raw`(?<![^${limits}])[\p{L}\p{N}#@~/\\.](?:[^${limits}]*[\p{L}\p{N}/\\+#])?(?![\p{L}\p{N}])`,
  "gu",
);

export const addressRules: readonly Rule[] = [
  [
    token,
    ({ 0: written }, dialect) => {
      if (!/[./\\@#+]|^v\d/i.test(written)) return undefined;
      for (const [pattern, say] of kinds) {
        const parts = pattern.exec(written);
        if (parts) return say(parts, dialect);
      }
      return undefined;
    },
  ],
];
