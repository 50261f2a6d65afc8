import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";

/**
 * Returns the environment variables with which another Node process uses this one's cache of
 * compiled code, in which types are stripped already.
 */
export const compileCache = (): { readonly NODE_COMPILE_CACHE?: string } => {
  const directory = getCompileCacheDir();
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
};
