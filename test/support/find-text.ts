import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The forms in which a marker of ASCII letters may occur in bytes, by name. The marker has no
 * letters that JSON or URLs escape.
 */
const formsOf = (marker: string): Readonly<Record<string, Buffer>> => {
  const lower = marker.toLowerCase();
  const utf16 = Buffer.from(lower, "utf16le");
  return {
    plain: Buffer.from(lower),
    // Without the outer zeros, which only one of the two byte orders has.
    "UTF-16": utf16.subarray(0, -1),
    hex: Buffer.from(Buffer.from(marker).toString("hex")),
  };
};

/** Base64 of the marker at each offset in a text, without the digits that its neighbours change. */
const base64Of = (marker: string): Buffer[] =>
  [0, 1, 2].map((offset) => {
    const digits = Buffer.from(" ".repeat(offset) + marker)
      .toString("base64")
      .replace(/=+$/, "");
    return Buffer.from(digits.slice(Math.ceil((offset * 4) / 3), -1));
  });

/**
 * Returns the names of the forms in which the bytes contain the marker: plain text and UTF-16 in
 * any case, base64 and hex only of the marker as it is written.
 */
export const formsIn = (bytes: Buffer, marker: string): string[] => {
  const lower = Buffer.from(bytes.toString("latin1").toLowerCase(), "latin1");
  const found = Object.entries(formsOf(marker)).filter(([, form]) => lower.includes(form));
  const isBase64 = base64Of(marker).some((form) => bytes.includes(form));
  return [...found.map(([name]) => name), ...(isBase64 ? ["base64"] : [])];
};

/** The files below a directory that contain the marker, with its forms. */
export const filesWith = async (directory: string, marker: string): Promise<string[]> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const found = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ parentPath, name }) => {
        const file = join(parentPath, name);
        const bytes = await readFile(file).catch(() => Buffer.alloc(0)); // it was removed meanwhile
        return formsIn(bytes, marker).map((form) => `${file}: ${form}`);
      }),
  );
  return found.flat();
};
