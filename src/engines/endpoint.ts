/** A path of an API under its base address, which may have a path of its own. */
export const endpoint = (base: string, path: `/${string}`): URL =>
  new URL(`${base.replace(/\/+$/, "")}${path}`);
