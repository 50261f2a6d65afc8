/**
 * Decodes a page as browsers do: a byte order mark wins over the header, and the header over the
 * document.
 */
export const decodeHtml = (bytes: Buffer, contentType: string): string => {
  const encoding = markedEncoding(bytes) ?? charsetIn(contentType) ?? declaredEncoding(bytes);
  if (encoding !== undefined && isEncoding(encoding)) return new TextDecoder(encoding).decode(bytes);
  return new TextDecoder(isUtf8(bytes) ? "utf-8" : "windows-1252").decode(bytes);
};

const byteOrderMarks: Readonly<Record<string, string>> = {
  efbbbf: "utf-8",
  fffe: "utf-16le",
  feff: "utf-16be",
};

const markedEncoding = (bytes: Buffer): string | undefined => {
  const start = bytes.toString("hex", 0, 3);
  return Object.entries(byteOrderMarks).find(([mark]) => start.startsWith(mark))?.[1];
};

/** Browsers look for the declaration of an encoding in this many bytes. */
const declarationBytes = 1_024;

/** A document that can declare UTF-16 is in UTF-8 (HTML, section 13.2.3.2). */
const declaredEncoding = (bytes: Buffer): string | undefined => {
  const start = bytes.toString("latin1", 0, declarationBytes).replace(/<!--.*?-->/gs, "");
  const encoding = charsetIn(/<meta[^>]+charset[^>]+>/i.exec(start)?.[0] ?? "");
  return encoding?.replace(/^utf-?16.*/i, "utf-8");
};

const charsetIn = (text: string): string | undefined => /charset\s*=\s*["']?([\w.:-]+)/i.exec(text)?.[1];

const isEncoding = (label: string): boolean => {
  try {
    return new TextDecoder(label) !== undefined;
  } catch {
    return false;
  }
};

/** True also for a text that is cut off within a character. */
const isUtf8 = (bytes: Buffer): boolean => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true }) !== undefined;
  } catch {
    return false;
  }
};
