import type { AskInstance } from "../../cli/commands/instances.ts";
import { BadSetting, type Settings } from "../../settings/read-settings.ts";

/** An instance takes less time to check its health. */
const timeoutMs = 30_000;

/**
 * Calls the admin API of a running instance with the first token of the settings, an auditor's if
 * there is one.
 */
export const composeAskInstance =
  (readSettings: () => Settings): AskInstance =>
  async (path, url) => {
    const settings = readSettings();
    const [holder] = [...settings.auditorTokens, ...settings.adminTokens];
    if (!holder) throw new BadSetting("ADMIN_TOKEN or AUDITOR_TOKEN: must have a token of the instance");
    const address = new URL(path, directory(url ?? ownUrl(settings)));
    const response = await fetch(address, {
      headers: { Authorization: `Bearer ${holder.token}` },
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((error: unknown) => {
      throw new Error(`There is no response from ${address.origin}.`, { cause: error });
    });
    const body: unknown = await response.json().catch(() => undefined);
    if (response.ok && body !== undefined) return body;
    const { message = "it is no instance of this service" } = Object(Object(body).error);
    throw new Error(`${address.origin} responded with HTTP ${response.status}: ${message}`);
  };

/** A server that listens on all addresses is reached on the loopback interface. */
export const ownUrl = ({ host, port }: Pick<Settings, "host" | "port">): string => {
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
};

const directory = (url: string): string => {
  if (!URL.canParse(url)) throw new Error(`${url} is no URL: it must be like http://10.0.0.2:8080.`);
  return url.endsWith("/") ? url : `${url}/`;
};
