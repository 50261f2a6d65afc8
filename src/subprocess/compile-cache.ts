import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";

/**
 * Returns what the environment of another Node process needs to use this one's cache of compiled
 * code, with types already stripped.
 */
export const compileCache = (): { readonly NODE_COMPILE_CACHE?: string } => {
  const directory = getCompileCacheDir();
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
};
