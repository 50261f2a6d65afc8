/**
 * For `--import` (see scripts/node). A service has 2,200 relative imports. All are URLs of files
 * with an extension, so they can be resolved without looking at any file. Node would look for each
 * file, its links and its package, which takes a fifth of the CPU time of loading the modules.
 */
import { registerHooks } from "node:module";

registerHooks({
  resolve: (specifier, context, next) =>
    /^\.\.?\/.*\.ts$/.test(specifier) && context.parentURL !== undefined
      ? {
          url: new URL(specifier, context.parentURL).href,
          format: "module-typescript",
          shortCircuit: true,
        }
      : next(specifier, context),
});
