import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";

/**
 * For the environment of another Node process: this one's cache of compiled code, with types
 * already stripped.
 */
export const compileCache = (): { readonly NODE_COMPILE_CACHE?: string } => {
  const directory = getCompileCacheDir();
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
};
