import { accessibleName } from "./accessible-name.ts";
import type { Feature } from "./feature.ts";
import { mayPlay } from "./speaker.ts";
import { languageOf } from "./text/language.ts";

/** A link is spoken when the pointer has stayed on it this long, not if it only passes over. */
const hoverMs = 150;

/**
 * Speaks the name of the link under the pointer or with the keyboard's focus, until the pointer or
 * the focus leaves it. A page may play audio only after the visitor's first click or key.
 */
export const speakLinks: Feature = ({ speaker, signal, features }) => {
  let left = new AbortController();
  const leave = (): void => left.abort();
  const enter = (link: Element, delayMs: number): void => {
    leave();
    left = new AbortController();
    const name = accessibleName(link);
    const timer = setTimeout(() => {
      if (mayPlay() && name !== "") void speaker.announce(name, languageOf(link));
    }, delayMs);
    left.signal.addEventListener("abort", () => {
      clearTimeout(timer);
      speaker.retract(name);
    });
  };
  const linkOf = ({ target }: Event): Element | null => (target as Element).closest("a[href]");

  const onOver = (event: PointerEvent): void => {
    const link = event.pointerType === "touch" ? null : linkOf(event);
    if (link && !link.contains(event.relatedTarget as Node | null)) enter(link, hoverMs);
  };
  const onOut = (event: PointerEvent): void => {
    if (linkOf(event)?.contains(event.relatedTarget as Node | null) === false) leave();
  };
  document.addEventListener("pointerover", onOver, { signal });
  document.addEventListener("pointerout", onOut, { signal });
  signal.addEventListener("abort", leave);
  if (features.accessibilityNavigation.enabled) return; // it speaks every element with the focus
  const onFocus = (event: FocusEvent): void => {
    const link = linkOf(event);
    if (link?.matches(":focus-visible")) enter(link, 0);
  };
  document.addEventListener("focusin", onFocus, { signal });
  document.addEventListener("focusout", (event) => linkOf(event) && leave(), { signal });
};
