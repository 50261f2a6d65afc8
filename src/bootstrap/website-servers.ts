import type { Logger } from "pino";
import { errorMessage } from "../domain/errors.ts";
import { withCoarseFailures } from "../engines/provider-http/coarse-failures.ts";
import type { UpstreamDeadlines } from "../engines/provider-http/connection.ts";
import { createExchange, type Exchange } from "../engines/provider-http/exchange.ts";
import { type AllowedNetworks, createSsrfGuard } from "../engines/provider-http/ssrf-guard.ts";

/**
 * Requests to servers that websites' credentials and webhooks name. With a log, it receives why a
 * server cannot be reached, and the errors do not tell; without one (the command line), the errors
 * do.
 */
export const openWebsitesExchange = (
  networks: AllowedNetworks,
  { deadlines, log }: { deadlines: UpstreamDeadlines; log: Logger | undefined },
): Exchange => {
  const exchange = createExchange({ guard: createSsrfGuard({ by: "website", ...networks }), deadlines });
  if (!log) return exchange;
  return withCoarseFailures(exchange, (reason, { host }) =>
    log.warn({ host, reason: errorMessage(reason) }, "a server of a website or webhook cannot be reached"),
  );
};
