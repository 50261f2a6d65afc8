/** What a provider says of a failure, fit to be passed on: its own words, one line, nothing secret. */

const mostCharacters = 300;

/** As much is looked at: the patterns below take the square of a word's length, and words come from outside. */
const mostLookedAt = 2_000;

/** Of a body that is neither JSON nor plain text (an HTML page of some proxy) nothing is passed on. */
export const messageFromBody = (body: string, hidden: readonly string[] = []): string | undefined => {
  const said = messageIn(body);
  return said === undefined ? undefined : redact(said, hidden);
};

/** One line without credentials; `hidden` are what must not be repeated even though it looks like nothing. */
export const redact = (said: string, hidden: readonly string[] = []): string | undefined => {
  const open = hidden
    .filter(({ length }) => length >= shortestHidden)
    .toSorted((a, b) => b.length - a.length)
    .reduce((text, secret) => withoutParts(text.replaceAll(secret, "…"), secret), said);
  const stripped = credentials.reduce(
    (text, [pattern, instead]) => text.replace(pattern, instead),
    clipped(open),
  );
  const line = stripped.replace(/[\s\p{C}]+/gu, " ").trim();
  if (line === "") return undefined;
  return line.length <= mostCharacters ? line : `${line.slice(0, mostCharacters - 1).toWellFormed()}…`;
};

/** Hiding less would punch holes into ordinary words, and hide nothing that can be kept secret. */
const shortestHidden = 6;

/** A part of what is hidden, if it is so long, tells of it as well: refusals quote a text up to some length, or escaped. */
const shortestPart = 16;

const withoutParts = (said: string, secret: string): string => {
  const parts = new Set<string>();
  for (let at = 0; at + shortestPart <= secret.length; at++) parts.add(secret.slice(at, at + shortestPart));
  const isPart = (at: number): boolean => parts.has(said.slice(at, at + shortestPart));
  let kept = "";
  for (let at = 0; at < said.length; ) {
    if (!isPart(at)) {
      kept += said[at++];
      continue;
    }
    while (isPart(at)) at++;
    at += shortestPart - 1;
    kept += "…";
  }
  return kept;
};

/** Cut between words: half a credential would not be known as one. */
const clipped = (text: string): string =>
  text.length <= mostLookedAt ? text : text.slice(0, mostLookedAt).replace(/\S+$/, "");

/** URLs' user and query, named values, tokens by their issuers' prefixes, what is masked already, and long opaque strings. */
const credentials: readonly (readonly [RegExp, string])[] = [
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@]{1,500}@/gi, "$1"],
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s?#"'<>]{1,2000})[?#][^\s"'<>]*/gi, "$1"],
  [/\b(bearer|basic)\s+[\w.~+/=*-]+/gi, "$1 …"],
  [
    /\b((?:api|subscription|access|secret|private)?[-_ ]?(?:key|token|secret|password|signature))(["']?\s*[:=]\s*["']?)[^\s"',;&]+/gi,
    "$1$2…",
  ],
  [/\b(?:sk|pk|rk|gsk|xai|hf|ghp)[-_][\w*-]{4,}/g, "…"],
  [/\bAIza[\w*-]{6,}/g, "…"],
  [/\bya29\.[\w.-]+/g, "…"],
  [/\beyJ[\w-]+(?:\.[\w-]*){0,2}/g, "…"],
  [/[^\s"']*\*{3,}[^\s"']*/g, "…"],
  [/\b[\w+/-]{32,}={0,2}/g, "…"],
];

const messageIn = (body: string): string | undefined => {
  const text = body.trim();
  if (/^[[{"]/.test(text)) return inJson(text);
  return text.startsWith("<") ? undefined : text;
};

const inJson = (text: string): string | undefined => {
  try {
    return messageOf(JSON.parse(text), 0);
  } catch {
    return undefined; // cut by our own bound, or never whole
  }
};

/** Where APIs of this kind put it: {error: {message}}, {message}, FastAPI's {detail: [{msg}]}, {error_description}. */
const places = ["message", "error_description", "msg", "error", "detail", "errors"] as const;
const deepest = 4;

const messageOf = (value: unknown, depth: number): string | undefined => {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || depth >= deepest) return undefined;
  const members: unknown[] = Array.isArray(value)
    ? value.slice(0, 3)
    : places.map((place) => (value as Record<string, unknown>)[place]);
  for (const member of members) {
    const found = messageOf(member, depth + 1);
    if (found) return found;
  }
  return undefined;
};
