import type { ServiceApi } from "../api/service-api.ts";
import type { Session } from "../api/session.ts";
import type { WebsiteConfig } from "../api/website-config.ts";
import type { Environment } from "../environment.ts";
import { VoxledgerError } from "../errors.ts";

/**
 * The first thing said to the service: key and origin, answered with the configuration and a token.
 * @throws {VoxledgerError} 401 `UNAUTHORIZED` also where the browser keeps the service's refusal from the page
 */
export type LoadConfig = (signal: AbortSignal) => Promise<WebsiteConfig>;

export const createLoadConfig =
  ({
    service,
    session,
    baseUrl,
    environment,
  }: {
    service: Pick<ServiceApi, "config">;
    session: Session;
    baseUrl: string;
    environment: Pick<Environment, "fetch" | "document">;
  }): LoadConfig =>
  async (signal) => {
    try {
      const { config, auth } = await service.config(signal);
      session.storeToken(auth);
      return config;
    } catch (error) {
      const hidden = error instanceof VoxledgerError && error.code === "NETWORK" && environment.document;
      throw hidden && (await isThere(baseUrl, environment, signal)) ? strangeOrigin(error) : error;
    }
  };

/**
 * To a page whose origin nobody verified a browser shows no answer of /v2 at all, as if the network were down. But
 * /health is open to every page: where it answers, it was not the network.
 */
const isThere = async (
  baseUrl: string,
  { fetch }: Pick<Environment, "fetch">,
  signal: AbortSignal,
): Promise<boolean> => {
  try {
    await (await fetch(`${baseUrl}health`, { credentials: "omit", signal })).body?.cancel();
    return true;
  } catch {
    return false;
  }
};

const strangeOrigin = (cause: unknown): VoxledgerError =>
  new VoxledgerError(
    "The service does not let this page in: its origin is not a verified one of the website's.",
    {
      status: 401,
      code: "UNAUTHORIZED",
      cause,
    },
  );
