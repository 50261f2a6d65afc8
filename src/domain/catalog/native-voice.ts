import type { SystemVoice } from "../synthesis/speech.ts";
import type { Browser, OperatingSystem, PlatformQuery } from "./platform-names.ts";

/** A native voice of browsers, and the platforms that are known to have it. */
export interface NativeVoice {
  readonly name: string;
  readonly lang: string;
  readonly on: readonly { readonly browser?: Browser; readonly os?: OperatingSystem }[];
}

/** A native system voice is one that no engine of the service speaks. */
export const isNative = ({ service }: SystemVoice): boolean => service === undefined;

/**
 * A voice's own name, without what browsers add to it (`Samantha (English (United States))`,
 * `Microsoft Zira Desktop - English (United States)`) in their own language. The client library has
 * a copy of this rule (`native-voices.ts`).
 */
export const ownName = (name: string): string =>
  name.normalize("NFC").replace(/^(.+?)( Desktop)?( - .*| ?[(（].*)?$/su, "$1");

/**
 * True if the system voice is the native one. A system voice without a language matches any
 * language.
 */
export const isSameVoice = (
  { name, lang }: Pick<SystemVoice, "name" | "lang">,
  native: Pick<NativeVoice, "name" | "lang">,
): boolean =>
  ownName(name) === ownName(native.name) &&
  (lang === undefined || lang.toLowerCase() === native.lang.toLowerCase());

/** Indexes voices by their own names. */
export const indexByOwnName = <V extends { readonly name: string }>(voices: readonly V[]) => {
  const index = Map.groupBy(voices, ({ name }) => ownName(name));
  return (name: string): readonly V[] => index.get(ownName(name)) ?? [];
};

/** True if the queried platform may have the voice. */
export const isAvailableOn = ({ on }: NativeVoice, asked: PlatformQuery): boolean =>
  on.some(({ browser, os }) => isCompatible(asked.browser, browser) && isCompatible(asked.os, os));

const isCompatible = <Name>(asked: Name | undefined, there: Name | undefined): boolean =>
  asked === undefined || there === undefined || asked === there;
