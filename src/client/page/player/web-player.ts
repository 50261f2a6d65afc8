import type { SpeakParams, WebPlayerFeature } from "../../voxledger.ts";
import type { Feature, PageContext } from "../feature.ts";
import { readParagraphs } from "../text/paragraphs.ts";
import { queryAll } from "../text/selectors.ts";
import { maxArticlesOfPage } from "../text/what-is-read.ts";
import { readClickedParagraphs } from "./clicked-paragraphs.ts";
import { createLabels, type PlayerLabels } from "./labels.ts";
import { showMediaSession } from "./media-session.ts";
import { MiniPlayer } from "./mini-player.ts";
import { createPlayerHandle, dispatchEvents } from "./player-events.ts";
import { createPlayerView } from "./player-view.ts";
import { Reading } from "./reading.ts";
import { rememberPlace } from "./remembered-places.ts";
import { scrollWithReading } from "./scroll-with-reading.ts";
import { shareButtons } from "./share-buttons.ts";
import { followTimeLinks } from "./time-links.ts";
import { chooseVoice } from "./voice-choice.ts";

/** A page whose framework removes foreign elements again and again gets no player. */
const maxInsertions = 10;

/** Adds a player to every article that has a text, also to those that a script adds later. */
export const showPlayers: Feature = (context) => {
  const { features, voxledger, speaker, signal } = context;
  void chooseVoice(features.webPlayer.voice, voxledger).then((voice) => {
    speaker.prepare(voice);
    if (!signal.aborted) followArticles(context, speakParams(features.webPlayer, voice));
  });
};

/** For parameters that the configuration omits, the website's defaults apply. */
const speakParams = ({ pitch, rate, volume }: WebPlayerFeature, voice: string | undefined): SpeakParams => ({
  ...(voice !== undefined && { defaultVoice: voice }),
  ...(pitch !== undefined && { pitch }),
  ...(rate !== undefined && { rate }),
  ...(volume !== undefined && { volume }),
});

type Player = NonNullable<ReturnType<typeof addPlayer>>;

const followArticles = (context: PageContext, params: SpeakParams): void => {
  const { features, signal } = context;
  const players = new Map<Element, Player>();
  const insertions = new WeakMap<Element, number>();
  const labelsFor = createLabels(context, () => signal.aborted || scan());
  const scan = (): void => {
    for (const [article, { host, remove }] of players) {
      if (article.isConnected && host.isConnected) continue;
      remove();
      players.delete(article);
    }
    for (const article of queryAll(document, features.webPlayer.selector)) {
      const inserted = insertions.get(article) ?? 0;
      if (players.has(article) || players.size >= maxArticlesOfPage || inserted >= maxInsertions) continue;
      const labels = labelsFor(article);
      const player = labels && addPlayer(context, article, labels, params);
      if (!player) continue;
      players.set(article, player);
      insertions.set(article, inserted + 1);
    }
  };
  scan();
  let isScheduled = false;
  const observer = new MutationObserver(() => {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      if (!signal.aborted) scan();
    });
  });
  observer.observe(document.documentElement, { childList: true, subtree: true });
  signal.addEventListener("abort", () => {
    observer.disconnect();
    for (const { remove } of players.values()) remove();
  });
};

/** Returns undefined for an article without a text. */
const addPlayer = (context: PageContext, article: Element, labels: PlayerLabels, params: SpeakParams) => {
  const { webPlayer } = context.features;
  const read = () => readParagraphs(article, webPlayer);
  const [first] = read();
  if (!first) return undefined;
  const removed = new AbortController();
  const { signal } = removed;
  let update = (): void => {};
  const reading = new Reading({ ...context, signal, read, params, onChange: () => update() });
  const number = queryAll(document, webPlayer.selector).indexOf(article) + 1;
  const share = shareButtons(reading, labels, { controls: webPlayer.controls, article: number });
  const view = createPlayerView(reading, labels, webPlayer, { share, serviceUrl: context.voxledger.baseUrl });
  Object.assign(view.host, { player: createPlayerHandle(reading) });
  insertPlayer(view.host, article, first.element, webPlayer.position);
  const mini = webPlayer.miniPlayer.enabled
    ? new MiniPlayer(reading, labels, view.host, webPlayer, signal)
    : undefined;
  const followers = [
    rememberPlace(reading, signal),
    showMediaSession(reading, article, signal),
    scrollWithReading(reading, signal),
    readClickedParagraphs(reading, article, webPlayer, signal),
    dispatchEvents(reading, view.host, { ...context, signal }),
  ];
  update = () => {
    view.update();
    mini?.update();
    for (const follow of followers) follow();
  };
  followTimeLinks(reading, number, signal);
  view.update();
  const remove = (): void => {
    removed.abort();
    view.host.remove();
  };
  return { host: view.host, remove };
};

/**
 * Inserts the player: before or after the article, or `inline`, before its first paragraph. A
 * target is looked for in the article first, then in the page. Without one, the player is before
 * the article.
 */
const insertPlayer = (
  host: HTMLElement,
  article: Element,
  firstParagraph: Element,
  position: WebPlayerFeature["position"],
): void => {
  if (typeof position === "string") {
    if (position === "after") article.after(host);
    else if (position === "inline") inlinePlace(article, firstParagraph).before(host);
    else article.before(host);
    return;
  }
  const { target: selector, at } = position;
  const target = queryAll(article, selector)[0] ?? queryAll(document, selector)[0];
  if (!target) article.before(host);
  else if (at === "inside") target.append(host);
  else target[at](host);
};

/** Lists and tables allow no player between their items. */
const inlinePlace = (article: Element, paragraph: Element): Element => {
  let place = paragraph;
  while (place !== article && place.matches("li, dt, dd, tr, td, th, tbody, thead") && place.parentElement) {
    place = place.parentElement;
  }
  return place;
};
