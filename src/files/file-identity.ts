import { type BigIntStats, statSync } from "node:fs";

/**
 * Returns a text that changes when a file is written, replaced or copied. Returns undefined if the
 * file does not exist, or cannot be read.
 */
export const fileIdentity = (path: string): string | undefined => {
  try {
    return identityOf(statSync(path, { bigint: true }));
  } catch {
    return undefined;
  }
};

export const identityOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(" ");
