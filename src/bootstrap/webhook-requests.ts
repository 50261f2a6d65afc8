import type { Logger } from "pino";
import { type PostWebhook, WebhookUnreachable } from "../application/webhooks/send-message.ts";
import { UpstreamFailed } from "../engines/provider-http/request-failed.ts";
import {
  type AllowedNetworks,
  createSsrfGuard,
  ForbiddenAddress,
} from "../engines/provider-http/ssrf-guard.ts";
import { openWebsitesExchange } from "./website-servers.ts";

/**
 * Why requests to an address are not allowed; undefined if they are. Names are resolved only when a
 * message is sent.
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
      await discardBody(response.body);
      return response.status;
    } catch (error) {
      signal.throwIfAborted();
      throw unreachable(error);
    }
  };
};

/** The status is the answer: a body that is cut off does not matter. */
const discardBody = async (body: AsyncIterable<Buffer>): Promise<void> => {
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

const unreachable = (error: unknown): unknown => {
  if (error instanceof ForbiddenAddress)
    return new WebhookUnreachable(`the address is not allowed: ${error.why}`, { cause: error });
  if (!(error instanceof UpstreamFailed)) return error;
  const { status } = error;
  return status === undefined
    ? new WebhookUnreachable("the server cannot be reached or does not respond", { cause: error })
    : new WebhookUnreachable(`HTTP ${status}: redirects are not followed`, { status, cause: error });
};
