import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const packageName = "sherpa-onnx-node";

/** The package that has the library itself, as sherpa-onnx-node names it. */
const nativeName = `sherpa-onnx-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;

/**
 * The version of the library, which need not be that of sherpa-onnx-node; undefined if either is
 * not installed. It is not loaded: that happens in processes of its own.
 */
export const libraryVersion = (from: string = import.meta.url): string | undefined => {
  try {
    const { resolve } = createRequire(from);
    resolve(`${packageName}/package.json`);
    const path = resolve(`${nativeName}/package.json`);
    return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
  } catch {
    return undefined;
  }
};

export const missingLibrary = `${packageName} is not installed: its models are not used. See docs/operate/models.md.`;
