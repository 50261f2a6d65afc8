import type { Logger } from "pino";
import { credentials } from "../../projections/credentials.ts";
import type { View } from "../../projections/runner/view.ts";
import { allWebhooks, webhooks } from "../../projections/webhooks.ts";
import type { CredentialsCipher } from "../application/accounts/credentials-cipher.ts";
import type { Providers } from "../application/accounts/list-provider-voices.ts";
import { openCredentials } from "../application/accounts/provider-clients.ts";
import { repeat } from "../async/repeat.ts";
import { backgroundTime } from "../async/time.ts";
import {
  type Credentials,
  type EngineCredentials,
  websiteOfCredentials,
} from "../domain/accounts/credentials.ts";
import { retirementNotice } from "../domain/accounts/model-retirements.ts";
import type { ProviderCredentials } from "../domain/synthesis/byok-providers.ts";
import type { Webhooks } from "../domain/webhooks/webhooks.ts";
import { type AllowedNetworks, missingNetworks } from "../engines/provider-http/ssrf-guard.ts";
import type { Core, Runtime } from "./core.ts";

const dayMs = 24 * 60 * 60_000;
const maxListed = 100;

/**
 * Reports to the operator's log, in the background. Refused servers of websites are reported once,
 * because their names must be resolved. Models that end are reported at the start and once a day.
 */
export const startWebsiteReports = (
  { settings, log, clock, resources, onError }: Runtime,
  { runner, providers }: Core,
  cipher: CredentialsCipher,
): void => {
  const ofCredentials = { credentials: runner.view(credentials), cipher };
  const stopped = new AbortController();
  resources.defer(async () => stopped.abort());
  const named = { ...ofCredentials, webhooks: runner.view(webhooks) };
  reportRefusedServers(named, settings.upstreamNetworks, { log, signal: stopped.signal }).catch((error) =>
    onError("refused servers of websites cannot be listed", error),
  );
  const task = async (): Promise<number> => {
    reportModelRetirements({ ...ofCredentials, providers }, log, clock());
    return dayMs;
  };
  const failed = (error: unknown) => onError("models that end cannot be listed", error);
  resources.defer(repeat({ task, firstMs: 0, retryMs: dayMs, time: backgroundTime, onError: failed }));
};

interface EncryptedCredentials {
  readonly credentials: View<Credentials>;
  readonly cipher: CredentialsCipher;
}

function* openAiCredentials({
  credentials,
  cipher,
}: EncryptedCredentials): Generator<{ websiteId: string; opened: ProviderCredentials["oai"] }> {
  for (const [stream, { byEngine }] of credentials.entries()) {
    const websiteId = websiteOfCredentials(stream);
    const opened = byEngine.oai && openOrOmit(cipher, byEngine.oai, websiteId);
    if (opened) yield { websiteId, opened };
  }
}

/** Returns undefined for credentials that cannot be opened: their use is logged. */
const openOrOmit = (cipher: CredentialsCipher, encrypted: EngineCredentials, websiteId: string) => {
  try {
    return openCredentials(cipher, encrypted, { websiteId, engine: "oai" });
  } catch {
    return undefined;
  }
};

type NamedServers = EncryptedCredentials & { readonly webhooks: View<Webhooks> };

/**
 * Logs which servers are refused because of their networks, and the setting that allows them. Names
 * are resolved one at a time.
 */
export const reportRefusedServers = async (
  named: NamedServers,
  networks: AllowedNetworks,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> => {
  const refused: string[] = [];
  const needed = new Set<string>();
  for (const { of, url } of serversOf(named)) {
    if (signal.aborted) return;
    const found = await missingNetworks(url, networks).catch(() => []); // it does not resolve
    if (found.length > 0) refused.push(of);
    for (const network of found) needed.add(network);
  }
  if (refused.length === 0) return;
  const setting = `ALLOW_UPSTREAM_NETWORKS=${[...networks.networks, ...needed].join(",")}`;
  log.warn(
    { refused: refused.slice(0, maxListed) },
    `${refused.length} servers of websites and webhooks are in private networks and refused. To allow them, set ${setting}`,
  );
};

function* serversOf(named: NamedServers): Generator<{ of: string; url: URL }> {
  for (const { websiteId, opened } of openAiCredentials(named))
    if (opened.baseUrl !== undefined)
      yield { of: `the credentials of ${websiteId} for oai`, url: new URL(opened.baseUrl) };
  for (const { webhookId, url } of Object.values(allWebhooks(named.webhooks)))
    yield { of: `the webhook ${webhookId}`, url: new URL(url) };
}

/** Logs one line for each model that ends, with the websites whose credentials name it. */
export const reportModelRetirements = (
  { providers, ...encrypted }: EncryptedCredentials & { readonly providers: Providers },
  log: Pick<Logger, "warn">,
  now: number,
): void => {
  const ending = Array.from(openAiCredentials(encrypted)).flatMap(({ websiteId, opened }) => {
    const retirement = providers.oai?.retirement?.(opened);
    return retirement ? [{ websiteId, notice: retirementNotice(retirement, now) }] : [];
  });
  for (const [notice, those] of Map.groupBy(ending, (one) => one.notice)) {
    const websites = those.map(({ websiteId }) => websiteId);
    log.warn(
      { websites: websites.slice(0, maxListed) },
      `${notice} It is in the oai credentials of ${websites.length} website(s).`,
    );
  }
};
