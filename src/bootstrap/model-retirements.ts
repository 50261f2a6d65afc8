import type { Logger } from "pino";
import { credentials } from "../../projections/credentials.ts";
import type { View } from "../../projections/runner/view.ts";
import type { CredentialsCipher } from "../application/accounts/credentials-cipher.ts";
import type { Providers } from "../application/accounts/list-provider-voices.ts";
import { openCredentials } from "../application/accounts/provider-clients.ts";
import { backgroundClock, type Clock } from "../async/clock.ts";
import { repeat } from "../async/repeat.ts";
import { type Credentials, websiteOfCredentials } from "../domain/accounts/credentials.ts";
import { type ModelRetirement, retirementNotice } from "../domain/accounts/model-retirements.ts";
import type { Core, Runtime } from "./core.ts";

const dayMs = 24 * 60 * 60_000;
const mostListed = 100;

/** Logs, at the start and once a day, which websites' credentials name a model that ends. */
export const reportModelRetirements = (
  { log, clock, resources, onError }: Runtime,
  { runner, providers }: Core,
  cipher: CredentialsCipher,
  timers: Clock = backgroundClock,
): void => {
  const task = async (): Promise<number> => {
    logModelRetirements({ credentials: runner.view(credentials), cipher, providers }, log, clock());
    return dayMs;
  };
  const failed = (error: unknown) => onError("models that end cannot be listed", error);
  resources.defer(repeat({ task, firstMs: 0, retryMs: dayMs, clock: timers, onError: failed }));
};

interface Accounts {
  readonly credentials: View<Credentials>;
  readonly cipher: CredentialsCipher;
  readonly providers: Providers;
}

/** One line for each model. `now`: milliseconds since the epoch. */
export const logModelRetirements = (accounts: Accounts, log: Pick<Logger, "warn">, now: number): void => {
  const ending = Array.from(accounts.credentials.entries()).flatMap(([stream, { byEngine }]) => {
    const websiteId = websiteOfCredentials(stream);
    const retirement = byEngine.oai && retirementIn(accounts, byEngine.oai, websiteId);
    return retirement ? [{ websiteId, notice: retirementNotice(retirement, now) }] : [];
  });
  for (const [notice, those] of Map.groupBy(ending, (one) => one.notice)) {
    const websites = those.map(({ websiteId }) => websiteId);
    log.warn(
      { websites: websites.slice(0, mostListed) },
      `${notice} It is in the oai credentials of ${websites.length} website(s).`,
    );
  }
};

/** Undefined also for credentials that cannot be opened: using them is logged. */
const retirementIn = (
  { cipher, providers }: Accounts,
  encrypted: NonNullable<Credentials["byEngine"]["oai"]>,
  websiteId: string,
): ModelRetirement | undefined => {
  try {
    return providers.oai?.retirement?.(openCredentials(cipher, encrypted, { websiteId, engine: "oai" }));
  } catch {
    return undefined;
  }
};
