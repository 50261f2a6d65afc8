/**
 * This module has the players and messages that a website's configuration enables on a page. It is
 * served as `/player-features.js`. Caches may hold a newer or an older library, so this module uses
 * only the library's public methods.
 */

import type { Voxledger, WebsiteConfig, WebsiteFeatures } from "../voxledger.ts";
import { speakFocusedElements } from "./accessibility-navigation.ts";
import type { Feature, PageContext } from "./feature.ts";
import { createHighlighter } from "./highlight.ts";
import { speakLinks } from "./links.ts";
import { exitIntentMessage, inactivityMessage, pageEndMessage, welcomeMessage } from "./messages.ts";
import { navigateParagraphs } from "./paragraph-navigation.ts";
import { showPlayers } from "./player/web-player.ts";
import { speakSelection } from "./selection.ts";
import { createSpeaker } from "./speaker.ts";

/** The features, by the member that enables them. */
const starters: Readonly<Record<Exclude<keyof WebsiteFeatures, "welcomeMessageOnce">, Feature>> = {
  welcomeMessage,
  speakSelectedText: speakSelection,
  speakLinks,
  speakInactivity: inactivityMessage,
  speakEndPage: pageEndMessage,
  exitIntent: exitIntentMessage,
  accessibilityNavigation: speakFocusedElements,
  paragraphNavigation: navigateParagraphs,
  webPlayer: showPlayers,
};

/** Starts the enabled features. Returns a function that removes everything from the page. */
export const startFeatures = (
  voxledger: Voxledger,
  features: WebsiteFeatures,
  analytics: WebsiteConfig["analytics"] = { enabled: false }, // what an older `/player.js` calls
): (() => void) => {
  const stopped = new AbortController();
  const { signal } = stopped;
  const speaker = createSpeaker(voxledger);
  const context: PageContext = {
    voxledger,
    features,
    speaker,
    signal,
    analytics: analytics.enabled,
    highlighter: createHighlighter(features.webPlayer, signal),
  };
  document.addEventListener("keydown", ({ key }) => key === "Escape" && speaker.stop(), { signal });
  for (const [member, start] of Object.entries(starters)) {
    if (features[member as keyof typeof starters].enabled) start(context);
  }
  return () => {
    speaker.stop();
    stopped.abort();
  };
};
