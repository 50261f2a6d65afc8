import { statSync } from "node:fs";

/**
 * What changes when a file is written, replaced or copied. Undefined if it does not exist, or
 * cannot be read.
 */
export const fileIdentity = (path: string): string | undefined => {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  } catch {
    return undefined;
  }
};
