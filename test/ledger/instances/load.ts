/** The requests that an instance decides on. */
export interface Load {
  readonly url: string;
  readonly name: string;
  readonly seed: number;
  readonly decisions: number;
  readonly keys: readonly string[];
  /** Characters of each key. */
  readonly quota: number;
  readonly atOnce: number;
}

/** How a request was completed. */
export interface Decided {
  readonly requestId: string;
  readonly apiKey: string;
  readonly characters: number;
  /** 200: served; 403: over the quota; 503: unavailable. */
  readonly status: number;
}
