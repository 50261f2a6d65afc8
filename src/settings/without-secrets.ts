import { environment } from "./settings.ts";

/** Settings as they were given, without those that are or hold secrets. */
export interface SettingsWithoutSecrets {
  /** Addresses have only their scheme, host and port. */
  readonly settings: Readonly<Record<string, string>>;
  /** The names of the settings that are left out. */
  readonly withheld: readonly string[];
}

export const withoutSecrets = (env: Readonly<Record<string, string | undefined>>): SettingsWithoutSecrets => {
  const settings: Record<string, string> = {};
  const withheld: string[] = [];
  for (const [name, schema] of Object.entries(environment.shape)) {
    const value = env[name];
    if (!value) continue;
    const kept = schema.meta()?.isSecret ? undefined : withoutCredentials(value);
    if (kept === undefined) withheld.push(name);
    else settings[name] = kept;
  }
  return { settings, withheld };
};

/**
 * Reduces addresses to scheme, host and port: user, path and query may hold credentials. Returns
 * undefined for a value in which they cannot be told apart.
 */
const withoutCredentials = (value: string): string | undefined => {
  if (!value.includes("//") && !/[@?]|https?:/i.test(value)) return value;
  const addresses = value.split(",").map(addressOf);
  return addresses.includes(undefined) ? undefined : addresses.join(",");
};

const addressOf = (text: string): string | undefined => {
  const url = URL.parse(text.trim());
  // A password with an unescaped slash ends the host too early, and an at sign follows, which may
  // be escaped once or more.
  if (!url?.host || /@|%(?:25)*40/.test(`${url.pathname}${url.search}${url.hash}`)) return undefined;
  return `${url.protocol}//${url.host}`;
};
