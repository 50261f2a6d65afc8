import { type BuildOptions, build, type OutputFile, stop } from "esbuild";

/** Browsers with `AbortSignal.any` and `Promise.withResolvers` support this syntax. */
const target = "es2022";

const options: BuildOptions & { write: false } = {
  bundle: true,
  format: "esm",
  target,
  minify: true,
  charset: "utf8",
  legalComments: "none",
  write: false,
  // The project's tsconfig only concerns type checking.
  tsconfigRaw: {},
};

let running = 0;

/**
 * Bundles scripts and style sheets for browsers, because the project has no build step. The same sources always give the
 * same bytes.
 */
export const bundleForBrowsers = async (entry: BuildOptions): Promise<OutputFile[]> => {
  running += 1;
  try {
    return (await build({ ...options, ...entry, write: false })).outputFiles;
  } finally {
    running -= 1;
    // Otherwise esbuild's process runs as long as the service. Stopping it stops it for every caller.
    if (running === 0) await stop();
  }
};
