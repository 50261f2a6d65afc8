/** How long what was appended here has been missing from the views. */
export interface Lag {
  appended(position: number): void;
  /** In seconds, for views that have come so far. */
  of(views: { readonly position: number; readonly downSince: number | undefined }): number;
}

interface Mark {
  readonly position: number;
  readonly at: number;
}

/**
 * Two marks are enough: the first append that the views may not show yet, and the last. When the views have passed the
 * first, what is missing is no older than the mark that follows it.
 */
export const createLag = (now: () => number = Date.now): Lag => {
  let first: Mark | undefined;
  let last: Mark | undefined;
  return {
    appended: (position) => {
      last = { position, at: now() };
      first ??= last;
    },
    of: ({ position, downSince }) => {
      if (first && first.position <= position) first = last && last.position > position ? last : undefined;
      const since = Math.min(first?.at ?? Number.POSITIVE_INFINITY, downSince ?? Number.POSITIVE_INFINITY);
      return Number.isFinite(since) ? Math.max(0, now() - since) / 1_000 : 0;
    },
  };
};
