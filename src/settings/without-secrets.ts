import { environment } from "./settings.ts";

/** Settings as they were given, without those that are or hold secrets. */
export interface SettingsWithoutSecrets {
  readonly settings: Readonly<Record<string, string>>;
  /** The names of the settings that are left out. */
  readonly withheld: readonly string[];
}

/** Addresses with a user or a password, or with a key as a parameter. */
const credentials = /:\/\/[^/?#\s]*@|[?&][^=&]*(key|token|secret|password)=/i;

export const withoutSecrets = (env: Readonly<Record<string, string | undefined>>): SettingsWithoutSecrets => {
  const settings: Record<string, string> = {};
  const withheld: string[] = [];
  for (const [name, schema] of Object.entries(environment.shape)) {
    const value = env[name];
    if (!value) continue;
    if (schema.meta()?.isSecret || credentials.test(value)) withheld.push(name);
    else settings[name] = value;
  }
  return { settings, withheld };
};
