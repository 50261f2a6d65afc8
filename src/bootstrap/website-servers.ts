import type { Logger } from "pino";
import { PageUnreadable, type RequestPage } from "../application/accounts/website-page.ts";
import { type PostWebhook, WebhookUnreachable } from "../application/webhooks/send-message.ts";
import { EngineFailed, errorMessage } from "../domain/errors.ts";
import type { UpstreamDeadlines } from "../engines/provider-http/connection.ts";
import { createExchange, type Exchange } from "../engines/provider-http/exchange.ts";
import { UnprovenEnd, UpstreamFailed, unreachable } from "../engines/provider-http/request-failed.ts";
import {
  type AllowedNetworks,
  createSsrfGuard,
  ForbiddenAddress,
} from "../engines/provider-http/ssrf-guard.ts";

/**
 * Opens the exchange with servers that the credentials and webhooks of websites name. If a log is
 * given, it receives the reason why a server cannot be reached, and the errors do not contain it.
 * Without a log (on the command line), the errors contain it.
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

/**
 * Gives every failure before a response the same message: otherwise the website could tell open
 * ports from closed ones, and find the names of a private network. The time that a failure takes
 * still depends on its reason, which `report` receives.
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

/**
 * Returns why a webhook's address is not allowed; undefined if it is. Names are resolved only when
 * a message is sent.
 */
export const webhookRefusal = (networks: AllowedNetworks): ((url: URL) => string | undefined) => {
  const guard = createSsrfGuard({ by: "website", ...networks });
  return (url) => {
    try {
      guard.check(url);
      return undefined;
    } catch (error) {
      if (error instanceof ForbiddenAddress) return error.why;
      throw error;
    }
  };
};

const deadlines = { connectMs: 5_000, firstByteMs: 15_000, totalMs: 15_000 };
/** A longer body is not read to its end. */
const maxBodyBytes = 16 * 1024;

/** Each request has a connection of its own: the next one may be a day later. */
export const openPostWebhook = (networks: AllowedNetworks, log: Logger): PostWebhook => {
  const exchange = openWebsitesExchange(networks, { deadlines, log });
  return async (url, { headers, body }, signal) => {
    try {
      const request = { method: "POST", url, headers: { ...headers, Connection: "close" }, body } as const;
      const response = await exchange(request, signal);
      await drainBody(response.body);
      return response.status;
    } catch (error) {
      signal.throwIfAborted();
      throw webhookError(error);
    }
  };
};

/** Reads a body whose content does not matter. It is no failure if it is cut off. */
const drainBody = async (body: AsyncIterable<Buffer>): Promise<void> => {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) return;
    }
  } catch {
    return;
  }
};

const webhookError = (error: unknown): unknown => {
  if (error instanceof ForbiddenAddress)
    return new WebhookUnreachable(`the address is not allowed: ${error.why}`, { cause: error });
  if (!(error instanceof UpstreamFailed)) return error;
  const { status } = error;
  return status === undefined
    ? new WebhookUnreachable("the server cannot be reached or does not respond", { cause: error })
    : new WebhookUnreachable(`HTTP ${status}: redirects are not followed`, { status, cause: error });
};

/**
 * Bodies are not compressed, so that their size is known. Firewalls refuse clients without a name.
 */
const pageHeaders = {
  ...{ Accept: "text/html", "Accept-Encoding": "identity", "User-Agent": "Voxledger" },
  Connection: "close",
};

export const openRequestPage = (networks: AllowedNetworks, log: Logger): RequestPage => {
  const exchange = openWebsitesExchange(networks, { deadlines, log });
  return async (url, signal) => {
    const request = { method: "GET", url, headers: pageHeaders, returnsRedirects: true } as const;
    try {
      const response = await exchange(request, signal);
      return { ...response, body: pageBody(response.body, signal) };
    } catch (error) {
      throw pageError(error, signal);
    }
  };
};

/** HTML that ends with its connection needs no proof of its end: a preview may be incomplete. */
async function* pageBody(body: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    if (!(error instanceof UnprovenEnd)) throw pageError(error, signal);
  }
}

const pageError = (cause: unknown, signal: AbortSignal): unknown => {
  signal.throwIfAborted();
  if (cause instanceof ForbiddenAddress)
    return new PageUnreadable(`its address is not allowed (${cause.why})`, { cause });
  if (!(cause instanceof UpstreamFailed)) return cause;
  return new PageUnreadable("the website cannot be reached or does not respond completely", { cause });
};
