import { tap } from "../../async/tap.ts";
import type { Exchange } from "../provider-http/exchange.ts";
import { type Stage, UpstreamFailed } from "../provider-http/request-failed.ts";

/** The events that metrics count. They contain no texts and no credentials. */
export type ProviderEvent =
  /** A request is sent. */
  | { readonly what: "requested" }
  /** The headers of a response have arrived, after this time. */
  | { readonly what: "answered"; readonly ms: number }
  /** A request is about to be repeated. */
  | { readonly what: "retried" }
  /** The provider responded with an error status. */
  | { readonly what: "refused"; readonly status: number }
  /** The provider could not be reached, did not respond, or broke off its response. */
  | { readonly what: "failed"; readonly stage: Stage }
  | { readonly what: "circuit"; readonly state: "closed" | "open" };

export type ReportProviderEvent = (event: ProviderEvent) => void;

/** Reports every request and its failure. An abort is not a failure. */
export const withEventReports =
  (exchange: Exchange, report: ReportProviderEvent): Exchange =>
  async (request, signal) => {
    report({ what: "requested" });
    const sentAt = performance.now();
    const onError = (error: unknown): void => {
      if (error instanceof UpstreamFailed) report({ what: "failed", stage: error.stage });
    };
    try {
      const { status, headers, body } = await exchange(request, signal);
      report({ what: "answered", ms: performance.now() - sentAt });
      if (status >= 400) report({ what: "refused", status });
      return { status, headers, body: tap(body, { onError }) };
    } catch (error) {
      onError(error);
      throw error;
    }
  };
