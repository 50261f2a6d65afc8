/**
 * An element that shows the player of an article:
 *
 *     <voxledger-listen api-key="vlk_…" base-url="https://tts.example.com"></voxledger-listen>
 *
 * Its attributes are the options of the library, and `article`, a selector.
 */

import { startPlayer, warn } from "../page/start-page.ts";
import { configOf, flagOptions, type TagOption, textOptions } from "../page/tag-options.ts";
import type { VoxledgerConfig } from "../voxledger.ts";
import { shareClient } from "./shared-clients.ts";

export const listenTag = "voxledger-listen";

/** The options of the element, and of the components that render it. */
export interface ListenOptions extends Pick<VoxledgerConfig, TagOption> {
  /** A selector of the article. Default: the article around the element. */
  readonly article?: string | undefined;
}

export const listenOptions: readonly (keyof ListenOptions)[] = ["article", ...textOptions, ...flagOptions];

/** The attributes of the element. A flag is present or absent. */
export const attributesOf = (options: ListenOptions): Record<string, string> => {
  const present = Object.entries(options).filter(([, value]) => value !== undefined && value !== false);
  return Object.fromEntries(
    present.map(([name, value]) => [kebabCase(name), value === true ? "" : String(value)]),
  );
};

const kebabCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const camelCase = (name: string): string =>
  name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Shows the player until the signal is aborted. */
const show = async (place: Element, signal: AbortSignal): Promise<void> => {
  const attributes = [...place.attributes].map(({ name, value }) => [camelCase(name), value]);
  const { article, ...options } = Object.fromEntries(attributes);
  const { voxledger, release } = shareClient(configOf(options));
  signal.addEventListener("abort", release);
  const stop = await startPlayer(voxledger, place, article);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop);
};

/** Registers the element, unless it is registered. On a server, this does nothing. */
export const defineListenElement = (): void => {
  if (!globalThis.customElements || customElements.get(listenTag)) return;
  class ListenElement extends HTMLElement {
    static readonly observedAttributes = listenOptions.map(kebabCase);
    #shown: AbortController | undefined;

    connectedCallback(): void {
      this.#restart();
    }

    disconnectedCallback(): void {
      this.#shown?.abort();
      this.#shown = undefined;
    }

    attributeChangedCallback(): void {
      if (this.#shown) this.#restart();
    }

    /** Frameworks change several attributes, and move elements, within one task. */
    #restart(): void {
      this.#shown?.abort();
      const shown = new AbortController();
      this.#shown = shown;
      queueMicrotask(() => {
        if (!shown.signal.aborted)
          show(this, shown.signal).catch((error) => !shown.signal.aborted && warn(error));
      });
    }
  }
  customElements.define(listenTag, ListenElement);
};
