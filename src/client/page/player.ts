/**
 * This module is served as `/player.js`. It starts what the website's configuration enables on a
 * page:
 *
 *     <script type="module" src="https://tts.example.com/player.js" data-api-key="vlk_…"></script>
 */

import {
  type Fallback,
  type TransportMode,
  Voxledger,
  type VoxledgerConfig,
  type WebsiteFeatures,
} from "../voxledger.ts";

/**
 * Starts the players and spoken messages of the website's configuration. Loads the code for them
 * only if the configuration enables one and something can speak. Resolves with a function that
 * removes them from the page and cancels its speech.
 * @throws {VoxledgerError} if the configuration cannot be loaded
 */
export const startPage = async (voxledger: Voxledger): Promise<() => void> => {
  const { features, suspended } = await voxledger.config();
  if (!isAnyEnabled(features) || (suspended && !(await voxledger.canFallBack()))) return () => {};
  const { startFeatures } = await import("./features.ts");
  return startFeatures(voxledger, features);
};

/** `welcomeMessageOnce` alone enables nothing. */
const isAnyEnabled = (features: WebsiteFeatures): boolean =>
  Object.values(features).some((feature) => typeof feature === "object" && feature.enabled);

/** The options in the data attributes of the tag that loaded this module. */
const configOf = ({ apiKey = "", defaultVoice, defaultLang, ...data }: DOMStringMap): VoxledgerConfig => ({
  apiKey,
  baseUrl: import.meta.url,
  preferNative: "preferNative" in data,
  debug: "debug" in data,
  ...(defaultVoice !== undefined && { defaultVoice }),
  ...(defaultLang !== undefined && { defaultLang }),
  ...(data.fallback !== undefined && { fallback: data.fallback as Fallback }),
  ...(data.transport !== undefined && { transport: data.transport as TransportMode }),
});

const tags = document.querySelectorAll<HTMLScriptElement>("script[data-api-key]");
const tag = [...tags].find(({ src }) => src === import.meta.url);
if (tag) {
  const started = startPage(new Voxledger(configOf(tag.dataset)));
  started.catch((error) => console.warn(`Voxledger: ${error.message}`));
}
