/** A rectangle in the window. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Offset {
  readonly x: number;
  readonly y: number;
}

/** The distance to what is avoided. */
const gapPx = 8;

/** A place that is free of one obstacle may have another one. */
const maxSteps = 8;

/**
 * Where a box must be moved to that overlaps no obstacle: towards the middle of the window, or else
 * past its other edge, or else the same at the opposite side. Undefined if no place is free.
 */
export const freePlace = (
  home: Box,
  view: Box,
  obstaclesAt: (box: Box) => readonly Box[],
): Offset | undefined => {
  const inward = home.top + home.bottom > view.top + view.bottom ? -1 : 1;
  const mirrored = view.left + view.right - home.left - home.right;
  for (const x of [0, mirrored]) {
    for (const direction of [inward, -inward]) {
      let y = 0;
      for (let step = 0; step < maxSteps; step++) {
        const box = moved(home, { x, y });
        if (step > 0 && (box.top < view.top || box.bottom > view.bottom)) break;
        const obstacles = obstaclesAt(box);
        if (obstacles.length === 0) return { x, y };
        y =
          direction < 0
            ? Math.min(...obstacles.map(({ top }) => top)) - gapPx - home.bottom
            : Math.max(...obstacles.map(({ bottom }) => bottom)) + gapPx - home.top;
      }
    }
  }
  return undefined;
};

const moved = ({ left, top, right, bottom }: Box, { x, y }: Offset): Box => ({
  left: left + x,
  top: top + y,
  right: right + x,
  bottom: bottom + y,
});
