import { lazy } from "../../src/async/lazy.ts";
import { createBundleLoader } from "../../src/http/bundles/bundles.ts";

/** The bundles of this process, loaded at the first call. */
export const loadBundles = lazy(async () => {
  const loader = createBundleLoader({ warn: (sentence) => console.warn(sentence) });
  await loader.load(new AbortController().signal);
  return await loader.bundles();
});
