import { statSync } from "node:fs";

/**
 * Returns a text that changes when a file is written, replaced or copied. Returns undefined if the
 * file does not exist, or cannot be read.
 */
export const fileIdentity = (path: string): string | undefined => {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  } catch {
    return undefined;
  }
};
