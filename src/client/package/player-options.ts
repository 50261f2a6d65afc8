import type { VoxledgerConfig } from "../voxledger.ts";

/** The options of a player component: those of the library that a page needs. */
export interface PlayerOptions
  extends Pick<
    VoxledgerConfig,
    "apiKey" | "baseUrl" | "defaultVoice" | "defaultLang" | "transport" | "preferNative" | "debug"
  > {
  /** A selector of the article. Default: the article around the component. */
  readonly article?: string | undefined;
}

/** The attributes of `<voxledger-listen>`. A flag is present or absent. */
export const attributesOf = (options: PlayerOptions): Record<string, string> => {
  const present = Object.entries(options).filter(([, value]) => value !== undefined && value !== false);
  return Object.fromEntries(
    present.map(([name, value]) => [kebabCase(name), value === true ? "" : String(value)]),
  );
};

const kebabCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
