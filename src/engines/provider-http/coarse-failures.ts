import { EngineFailed } from "../../domain/errors.ts";
import type { Exchange } from "./exchange.ts";
import { UpstreamFailed, unreachable } from "./request-failed.ts";
import { ForbiddenAddress } from "./ssrf-guard.ts";

/**
 * For servers that a website names. Every failure before a response has the same message: otherwise
 * the website could tell open ports from closed ones, and find the names of a private network. The
 * time that a failure takes still depends on it. `report` receives the reason.
 */
export const withCoarseFailures =
  (exchange: Exchange, report: (reason: EngineFailed, url: URL) => void): Exchange =>
  async (request, signal) => {
    try {
      return await exchange(request, signal);
    } catch (error) {
      const stage = stageBeforeResponse(error);
      if (!(error instanceof EngineFailed) || stage === undefined) throw error;
      report(error, request.url);
      throw new UpstreamFailed(unreachable, { stage, cause: error });
    }
  };

const stageBeforeResponse = (error: unknown): "connect" | "waiting" | undefined => {
  if (error instanceof ForbiddenAddress) return error.isResolved ? "connect" : undefined;
  return error instanceof UpstreamFailed && error.stage !== "answer" ? error.stage : undefined;
};
