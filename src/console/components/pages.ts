import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { html } from "../html.ts";

/**
 * The place in a list that the service sends in pages: `after` is the id of the last entry of the
 * page before.
 */
export const usePages = () => {
  const [places, setPlaces] = useState<readonly string[]>([]);
  return {
    after: places.at(-1),
    /** Counts from 0. */
    page: places.length,
    next: (after: string) => setPlaces([...places, after]),
    previous: () => setPlaces(places.slice(0, -1)),
    first: () => setPlaces([]),
  };
};

export type Pages = ReturnType<typeof usePages>;

/** The members of a page of a list. */
export interface Listed {
  readonly count: number;
  readonly total?: number;
  readonly _links: { readonly next?: { readonly href: string } };
}

/** The `after` of the next page. */
const nextOf = ({ _links: { next } }: Listed): string | undefined =>
  (next && new URLSearchParams(next.href.slice(1)).get("after")) ?? undefined;

export const PageButtons = ({ pages, listed }: { pages: Pages; listed: Listed }): VNode => {
  const next = nextOf(listed);
  const total = listed.total === undefined ? "" : ` of ${listed.total.toLocaleString("en-GB")}`;
  return html`<nav class="pager" aria-label="Pages of the list">
    <span>Page ${pages.page + 1}: ${listed.count}${total}</span>
    <button type="button" class="quiet" disabled=${pages.page === 0} onClick=${pages.previous}>Previous</button>
    <button type="button" class="quiet" disabled=${!next} onClick=${() => next && pages.next(next)}>Next</button>
  </nav>`;
};
