/** Every Cache-Control policy of the service. */

export const noStore = "no-store";

/** Only the caller's own cache stores it, and asks again before every use. */
export const revalidatePrivately = "private, no-cache";

/** Any cache stores it, and asks again before every use. */
export const revalidate = "public, no-cache";

/** The content of the URL never changes. */
export const immutable = "public, max-age=31536000, immutable";

/** Any cache stores it for an hour. */
export const anHour = "public, max-age=3600";

/**
 * Any cache stores it for an hour. For a day after that, a cache may send it while it fetches the
 * new release.
 */
export const anHourOrStale = "public, max-age=3600, stale-while-revalidate=86400";

/**
 * Audio of shared voices. CDNs store responses to GET for a week. A website's own voices (`own…`)
 * are only for its own callers, because some CDNs ignore `Vary`. Audio of a fallback voice is
 * short-lived: the requested voice is tried again soon.
 */
export const audioCaching = {
  get: "public, max-age=86400, s-maxage=604800",
  post: "public, max-age=86400",
  own: "private, max-age=86400",
  fallback: "public, max-age=60",
  ownFallback: "private, max-age=60",
} as const;

/** True if shared caches must not store the response. */
export const isPrivate = (policy: string): boolean => /\b(no-store|private)\b/i.test(policy);
