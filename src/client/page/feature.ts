import type { Voxledger, WebsiteFeatures } from "../voxledger.ts";
import type { Highlighter } from "./highlight.ts";
import type { Speaker } from "./speaker.ts";

/** All features of a page share this. */
export interface PageContext {
  readonly voxledger: Voxledger;
  readonly features: WebsiteFeatures;
  readonly speaker: Speaker;
  readonly highlighter: Highlighter;
  /** True if the events of players are also for the page's tag manager. */
  readonly analytics: boolean;
  /** Aborted when the features are stopped: everything on the page is removed then. */
  readonly signal: AbortSignal;
}

/** Starts a feature until the context's signal is aborted. */
export type Feature = (context: PageContext) => void;
