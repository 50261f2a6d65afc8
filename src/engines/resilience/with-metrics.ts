import type { Exchange } from "../provider-http/exchange.ts";
import { type Stage, UpstreamFailed } from "../provider-http/request-failed.ts";

/** What a metric may be made of: nothing of what was asked for, and nobody's credentials. */
export type ProviderEvent =
  /** Somebody entered the queue for a turn, and left it, with a turn or without. */
  | { readonly what: "waits" | "waited" }
  /** The upstream is asked. */
  | { readonly what: "asked" }
  /** It is asked once more. */
  | { readonly what: "retried" }
  /** It refused, with this status. */
  | { readonly what: "refused"; readonly status: number }
  /** It could not be reached, did not answer, or broke off. */
  | { readonly what: "failed"; readonly stage: Stage }
  | { readonly what: "circuit"; readonly state: "closed" | "open" };

export type ReportProviderEvent = (told: ProviderEvent) => void;

/** Tells of every exchange, and how it failed. An abort is no failure. */
export const withMetrics =
  (exchange: Exchange, tell: ReportProviderEvent): Exchange =>
  async (request, signal) => {
    tell({ what: "asked" });
    const failed = (error: unknown): never => {
      if (error instanceof UpstreamFailed) tell({ what: "failed", stage: error.stage });
      throw error;
    };
    const { status, headers, body } = await exchange(request, signal).catch(failed);
    if (status >= 400) tell({ what: "refused", status });
    return { status, headers, body: followed(body, failed) };
  };

async function* followed(body: AsyncIterable<Buffer>, failed: (error: unknown) => never) {
  try {
    yield* body;
  } catch (error) {
    failed(error);
  }
}
