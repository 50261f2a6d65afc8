import { memoizeAsync } from "../memoize-async.ts";
import { Voxledger, type WebsiteFeatures } from "../voxledger.ts";
import { configOf } from "./tag-options.ts";

/**
 * Starts the players and spoken messages of the website's configuration. Loads the code for them
 * only if the configuration enables one and something can speak. Resolves with a function that
 * removes them from the page and cancels its speech.
 * @throws {VoxledgerError} if the configuration cannot be loaded
 */
export const startPage = async (voxledger: Voxledger): Promise<() => void> => {
  const config = await voxledger.config();
  return isAnyEnabled(config.features) ? await start(voxledger, config) : () => {};
};

/**
 * Shows the player of an article in `place`, even if the website's configuration enables none, and
 * starts nothing else. The article is that of the selector, or else the element around `place` that
 * the configuration's selector matches. Resolves with a function that removes the player and
 * cancels its speech.
 * @throws {VoxledgerError} if the configuration cannot be loaded
 * @throws {TypeError} if `place` is in no article
 * @throws {DOMException} if `article` is not a selector
 */
export const startPlayer = async (
  voxledger: Voxledger,
  place: Element,
  article?: string,
): Promise<() => void> => {
  const config = await sharedConfig(voxledger);
  const { features } = config;
  const id = String(++places);
  place.setAttribute(placeAttribute, id);
  const target = `[${placeAttribute}="${id}"]`;
  const around = `:is(${features.webPlayer.selector})`;
  if (article !== undefined) place.matches(article); // throws if it is invalid
  if (article === undefined && !place.closest(around)) {
    throw new TypeError(`No element around the player matches ${features.webPlayer.selector}.`);
  }
  const innermost = `${around}:has(${target}):not(:has(${around} ${target}))`;
  const { sanitize } = features.webPlayer;
  const webPlayer = {
    ...features.webPlayer,
    enabled: true,
    selector: article ?? innermost,
    // An article in the article, such as a comment, is not a part of its text.
    sanitize: { ...sanitize, exclude: [...sanitize.exclude, `${innermost} ${around}`] },
    position: { target, at: "inside" } as const,
  };
  return await start(voxledger, { ...config, features: { ...allDisabled(features), webPlayer } });
};

type Config = Awaited<ReturnType<Voxledger["config"]>>;

const configs = new WeakMap<Voxledger, () => Promise<Config>>();

/** A page may have many players, and each request counts against the key's limit. */
const sharedConfig = (voxledger: Voxledger): Promise<Config> => {
  const load = configs.get(voxledger) ?? memoizeAsync(() => voxledger.config());
  configs.set(voxledger, load);
  return load();
};

const placeAttribute = "data-voxledger-place";
let places = 0;

const start = async (
  voxledger: Voxledger,
  { features, analytics, suspended }: Config,
): Promise<() => void> => {
  if (suspended && !(await voxledger.canFallBack())) return () => {};
  const { startFeatures } = await import("./features.ts");
  return startFeatures(voxledger, features, analytics);
};

/** `welcomeMessageOnce` alone enables nothing. */
const isAnyEnabled = (features: WebsiteFeatures): boolean =>
  Object.values(features).some((feature) => typeof feature === "object" && feature.enabled);

const allDisabled = (features: WebsiteFeatures): WebsiteFeatures => {
  const disabled = Object.entries(features).map(([name, feature]) => [
    name,
    typeof feature === "object" ? { ...feature, enabled: false } : feature,
  ]);
  return Object.fromEntries(disabled);
};

/** Starts the page with the data attributes of the tag that loaded the script. */
export const startTag = ({ dataset }: HTMLScriptElement): void => {
  startPage(new Voxledger(configOf(dataset))).catch(warn);
};

export const warn = (error: Error): void => console.warn(`Voxledger: ${error.message}`);
