import type { Logger } from "pino";
import { credentials } from "../../projections/credentials.ts";
import type { View } from "../../projections/runner/view.ts";
import { allWebhooks, webhooks } from "../../projections/webhooks.ts";
import type { CredentialsCipher } from "../application/accounts/credentials-cipher.ts";
import { openCredentials } from "../application/accounts/provider-clients.ts";
import { type Credentials, websiteOfCredentials } from "../domain/accounts/credentials.ts";
import type { Webhooks } from "../domain/webhooks/webhooks.ts";
import { type AllowedNetworks, missingNetworks } from "../engines/provider-http/ssrf-guard.ts";
import type { Core, Runtime } from "./core.ts";

/** In the background: it resolves names. */
export const reportRefusedServersAtStart = (
  { settings, log, resources, onError }: Runtime,
  { runner }: Core,
  cipher: CredentialsCipher,
): void => {
  const stopped = new AbortController();
  resources.defer(async () => stopped.abort());
  const named = { credentials: runner.view(credentials), webhooks: runner.view(webhooks), cipher };
  reportRefusedServers(named, settings.upstreamNetworks, { log, signal: stopped.signal }).catch((error) =>
    onError("refused servers of websites cannot be listed", error),
  );
};

interface NamedServers {
  readonly credentials: View<Credentials>;
  readonly webhooks: View<Webhooks>;
  readonly cipher: CredentialsCipher;
}

const mostListed = 100;

/**
 * Logs which servers are refused because of their networks, and the setting that allows them. Names
 * are resolved one at a time.
 */
export const reportRefusedServers = async (
  named: NamedServers,
  networks: AllowedNetworks,
  { log, signal, missing = missingNetworks }: ReportOptions,
): Promise<void> => {
  const refused: string[] = [];
  const needed = new Set<string>();
  for (const { of, url } of serversOf(named)) {
    if (signal.aborted) return;
    const found = await missing(url, networks).catch(() => []); // it does not resolve
    if (found.length > 0) refused.push(of);
    for (const network of found) needed.add(network);
  }
  if (refused.length === 0) return;
  const setting = `ALLOW_UPSTREAM_NETWORKS=${[...networks.networks, ...needed].join(",")}`;
  log.warn(
    { refused: refused.slice(0, mostListed) },
    `${refused.length} servers of websites and webhooks are in private networks and refused. To allow them, set ${setting}`,
  );
};

interface ReportOptions {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** For tests. */
  readonly missing?: typeof missingNetworks;
}

function* serversOf({ cipher, ...views }: NamedServers): Generator<{ of: string; url: URL }> {
  for (const [stream, { byEngine }] of views.credentials.entries()) {
    const url = baseUrlOf(byEngine.oai, websiteOfCredentials(stream), cipher);
    if (url) yield { of: `the credentials of ${websiteOfCredentials(stream)} for oai`, url };
  }
  for (const { webhookId, url } of Object.values(allWebhooks(views.webhooks)))
    yield { of: `the webhook ${webhookId}`, url: new URL(url) };
}

/** Undefined also for credentials that cannot be opened: using them is logged. */
const baseUrlOf = (
  encrypted: Credentials["byEngine"]["oai"],
  websiteId: string,
  cipher: CredentialsCipher,
): URL | undefined => {
  if (!encrypted) return undefined;
  try {
    const { baseUrl } = openCredentials(cipher, encrypted, { websiteId, engine: "oai" });
    return baseUrl === undefined ? undefined : new URL(baseUrl);
  } catch {
    return undefined;
  }
};
