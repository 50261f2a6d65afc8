import type { WebPlayerFeature } from "../../voxledger.ts";
import { iconButton } from "./elements.ts";
import { keepClear } from "./keep-clear.ts";
import type { PlayerLabels } from "./labels.ts";
import { assemble, createHost, type PlayerView, playButton, skipButtons } from "./player-view.ts";
import type { Reading } from "./reading.ts";
import { applyTheme, miniPlayerSheet } from "./theme.ts";

/**
 * The small player at the edge of the window. It is shown while an article is read and the
 * article's own player is out of view.
 */
export class MiniPlayer {
  readonly #view: PlayerView;
  readonly #reading: Reading;
  readonly #player: HTMLElement;
  readonly #place: ReturnType<typeof keepClear>;
  #isPlayerInView = true;
  #isClosed = false;
  /** The element that had the focus before the mini player got it. */
  #focusedBefore: HTMLElement | undefined;

  constructor(
    reading: Reading,
    labels: PlayerLabels,
    player: HTMLElement,
    { miniPlayer, theme, controls }: Pick<WebPlayerFeature, "miniPlayer" | "theme" | "controls">,
    signal: AbortSignal,
  ) {
    this.#reading = reading;
    this.#player = player;
    const { labels: texts } = labels;
    const host = createHost("miniPlayer", labels, [miniPlayerSheet()]);
    host.hidden = true;
    applyTheme(host, theme);
    placeAt(host, miniPlayer.position);
    if (miniPlayer.zIndex !== undefined) host.style.zIndex = String(miniPlayer.zIndex);
    host.dataset.animation = miniPlayer.animation;
    const close = (): void => {
      this.#isClosed = true;
      this.update();
    };
    this.#view = assemble(host, [
      playButton(reading, texts, { withText: false }),
      ...(controls.skip ? [skipButtons(reading, texts)] : []),
      { node: iconButton("toArticle", texts.show, () => showPlayer(player)) },
      { node: iconButton("close", texts.close, close) },
    ]);
    host.addEventListener("focusin", ({ relatedTarget }) => {
      if (relatedTarget instanceof HTMLElement && relatedTarget !== host) this.#focusedBefore = relatedTarget;
    });
    document.body.append(host);
    this.#place = keepClear(host, player);
    const observer = new IntersectionObserver((entries) => {
      this.#isPlayerInView = entries.at(-1)?.isIntersecting ?? true;
      this.update();
    });
    observer.observe(player);
    signal.addEventListener("abort", () => {
      observer.disconnect();
      this.#hide();
      host.remove();
    });
  }

  /** A closed mini player is shown again when the article is read the next time. */
  update(): void {
    const { isActive } = this.#reading;
    if (!isActive) this.#isClosed = false;
    const { host } = this.#view;
    if (!isActive || this.#isPlayerInView || this.#isClosed) this.#hide();
    else host.hidden = false;
    this.#view.update();
    if (!host.hidden) this.#place.update();
  }

  /** The focus returns to where it was, or else to the article's player. */
  #hide(): void {
    const { host } = this.#view;
    if (host.hidden) return;
    const hadFocus = document.activeElement === host;
    host.hidden = true;
    this.#place.stop();
    if (!hadFocus) return;
    const before = this.#focusedBefore;
    before?.focus({ preventScroll: true });
    if (document.activeElement !== before) focusPlayer(this.#player);
  }
}

const placeAt = (host: HTMLElement, position: WebPlayerFeature["miniPlayer"]["position"]): void => {
  if (typeof position === "string") {
    host.dataset.position = position;
    return;
  }
  for (const [side, length] of Object.entries(position)) host.style.setProperty(side, length ?? null);
  if (position.top === undefined && position.bottom === undefined) host.style.setProperty("bottom", "1rem");
  if (position.left === undefined && position.right === undefined) host.style.setProperty("left", "1rem");
};

const showPlayer = (player: HTMLElement): void => {
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  player.scrollIntoView({ block: "center", behavior: isStill ? "auto" : "smooth" });
  focusPlayer(player);
};

const focusPlayer = (player: HTMLElement): void =>
  player.shadowRoot?.querySelector<HTMLElement>(".play")?.focus({ preventScroll: true });
