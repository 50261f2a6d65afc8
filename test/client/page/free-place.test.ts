import { expect } from "chai";
import { type Box, freePlace } from "../../../src/client/page/player/free-place.ts";

const view: Box = { left: 0, top: 0, right: 1_000, bottom: 600 };
const atBottom: Box = { left: 16, top: 534, right: 216, bottom: 584 };
const atTop: Box = { left: 784, top: 16, right: 984, bottom: 66 };

/** The place of a box among these obstacles. */
const placeOf = (home: Box, ...obstacles: Box[]) =>
  freePlace(home, view, (box) =>
    obstacles.filter(
      ({ left, top, right, bottom }) =>
        left < box.right && box.left < right && top < box.bottom && box.top < bottom,
    ),
  );

const bar = (top: number, bottom: number, right = 1_000): Box => ({ left: 0, top, right, bottom });

describe("the place of a mini player", () => {
  it("is its own if nothing is there", () => {
    expect(placeOf(atBottom)).to.deep.equal({ x: 0, y: 0 });
    expect(placeOf(atBottom, bar(0, 100))).to.deep.equal({ x: 0, y: 0 });
  });

  it("is beside the obstacle, towards the middle of the window", () => {
    expect(placeOf(atBottom, bar(500, 600))).to.deep.equal({ x: 0, y: 500 - 8 - 584 });
    expect(placeOf(atTop, bar(0, 70))).to.deep.equal({ x: 0, y: 70 + 8 - 16 });
  });

  it("is beside several obstacles", () => {
    expect(placeOf(atBottom, bar(500, 600), bar(420, 490))).to.deep.equal({ x: 0, y: 420 - 8 - 584 });
  });

  it("is at the other side of the window if its own is full", () => {
    expect(placeOf(atBottom, bar(0, 600, 300))).to.deep.equal({ x: 768, y: 0 });
  });

  it("is nowhere if the window is full", () => {
    expect(placeOf(atBottom, bar(0, 600))).to.equal(undefined);
    expect(placeOf(atBottom, bar(0, 200), bar(210, 400), bar(420, 600))).to.equal(undefined);
  });
});
