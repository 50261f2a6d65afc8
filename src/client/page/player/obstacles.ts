import type { Box } from "./free-place.ts";

const interactive =
  "button, a[href], input, select, textarea, iframe, [role=button], [role=link], [tabindex='0']";

/** Points this close together miss no button. */
const gridPx = 24;

/**
 * The fixed or sticky elements with buttons in this box, such as a consent banner or a bar of tabs,
 * also those in open shadow roots. Of one that covers most of the window, only its buttons count.
 * Elements that contain `content` are the page itself.
 */
export const obstaclesIn = (box: Box, content: Element): Box[] => {
  const [seen, containers] = [new Set<Element>(), new Set<Element>()];
  for (const [x, y] of pointsIn(box)) {
    for (const element of elementsAt(document, x, y)) {
      if (seen.has(element)) continue;
      seen.add(element);
      const container = fixedAncestor(element);
      if (container && !container.contains(content) && !isPlayer(container)) containers.add(container);
    }
  }
  return [...containers].flatMap(boxesToAvoid).filter((other) => overlap(box, other));
};

const pointsIn = ({ left, top, right, bottom }: Box): [x: number, y: number][] => {
  const between = (from: number, to: number): number[] => {
    const count = Math.ceil((to - from) / gridPx);
    return Array.from({ length: count + 1 }, (_, index) => from + ((to - from) * index) / count);
  };
  return between(top, bottom).flatMap((y) => between(left, right).map((x): [number, number] => [x, y]));
};

/** The elements at a point, those of shadow roots included. */
function* elementsAt(root: Document | ShadowRoot, x: number, y: number): Generator<Element> {
  for (const element of root.elementsFromPoint(x, y)) {
    if (element.getRootNode() !== root) continue; // a shadow root also returns what is around it
    if (element.shadowRoot) yield* elementsAt(element.shadowRoot, x, y);
    yield element;
  }
}

const fixedAncestor = (element: Element): Element | undefined => {
  for (let one: Element | undefined = element; one; one = one.parentElement ?? hostOf(one)) {
    if (/^(fixed|sticky)$/.test(getComputedStyle(one).position)) return one;
  }
  return undefined;
};

const hostOf = (element: Element): Element | undefined => {
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? root.host : undefined;
};

const isPlayer = (element: Element): boolean => (hostOf(element) ?? element).localName === "voxledger-player";

const boxesToAvoid = (container: Element): Box[] => {
  const buttons = container.matches(interactive) ? [container] : interactiveIn(container);
  const whole = container.getBoundingClientRect();
  const isLarge = whole.width * whole.height > (innerWidth * innerHeight) / 2;
  if (isLarge) return buttons.map((button) => button.getBoundingClientRect());
  return buttons.length > 0 ? [whole] : [];
};

const interactiveIn = (root: Element | ShadowRoot): Element[] => [
  ...root.querySelectorAll(interactive),
  ...[root, ...root.querySelectorAll("*")].flatMap((one) =>
    one instanceof Element && one.shadowRoot ? interactiveIn(one.shadowRoot) : [],
  ),
];

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
