import { parseJson } from "../parse-json.ts";

/** Makes a provider's error message safe to pass on: one line without secrets. */

const maxCharacters = 300;

/** Longer messages are cut: the patterns below take quadratic time. */
const maxLookedAt = 2_000;

/** Returns undefined for bodies that are neither JSON nor plain text, such as HTML pages. */
export const messageFromBody = (body: string, hidden: readonly string[] = []): string | undefined => {
  const said = messageIn(body);
  return said === undefined ? undefined : redact(said, hidden);
};

/** Returns one line without credentials. `hidden`: further values to remove. */
export const redact = (said: string, hidden: readonly string[] = []): string | undefined => {
  const withoutHidden = hidden
    .filter(({ length }) => length >= shortestHidden)
    .toSorted((a, b) => b.length - a.length)
    .reduce((text, secret) => withoutParts(text.replaceAll(secret, "…"), secret), said);
  const stripped = credentials.reduce(
    (text, [pattern, instead]) => text.replace(pattern, instead),
    clipped(withoutHidden),
  );
  const line = stripped.replace(/[\s\p{C}]+/gu, " ").trim();
  if (line === "") return undefined;
  return line.length <= maxCharacters ? line : `${line.slice(0, maxCharacters - 1).toWellFormed()}…`;
};

/** Shorter values occur in ordinary words and cannot be secrets. */
const shortestHidden = 6;

/** A part of this length is removed as well: providers quote texts truncated or escaped. */
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

/** Cuts a text between words, because half a credential would not match the patterns. */
const clipped = (text: string): string =>
  text.length <= maxLookedAt ? text : text.slice(0, maxLookedAt).replace(/\S+$/, "");

/**
 * User and query of URLs, named values, tokens by known prefixes, masked values, long opaque
 * strings.
 */
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
  if (/^[[{"]/.test(text)) return messageOf(parseJson(text), 0); // our own limit may have truncated it
  return text.startsWith("<") ? undefined : text;
};

/**
 * Common places of messages: {error: {message}}, {message}, FastAPI's {detail: [{msg}]},
 * {error_description}.
 */
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
