import { expect } from "chai";
import fc from "fast-check";
import { RecentIds } from "../../src/domain/recent-ids.ts";

const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `r-${n}`);
const add = (list: RecentIds, ids: readonly string[]): RecentIds =>
  ids.reduce((before, id) => before.with(id), list);

describe("The list of recent ids", () => {
  it("has the last 1,000 ids and no earlier one, however many were added", () => {
    for (const count of [1_000, 1_001, 2_000, 2_001, 5_500]) {
      const list = add(RecentIds.of([]), numbered(count));
      expect(numbered(count).filter((id) => list.has(id))).to.deep.equal(numbered(count).slice(-1_000));
      expect(list.values()).to.deep.equal(numbered(count).slice(-1_000));
    }
  });

  it("has an id for as long as one of its additions is among the last 1,000", () => {
    const list = add(RecentIds.of([]), ["r-0", ...numbered(1_000)]);
    expect(list.has("r-0")).to.equal(true);
    expect(list.with("next").has("r-0")).to.equal(false);
  });

  it("does not change when lists that follow from it do, whichever of them was first", () => {
    const lists = fc.array(fc.tuple(fc.nat(), fc.constantFrom(..."abcdef")), { maxLength: 40 });
    fc.assert(
      fc.property(lists, (additions) => {
        const known = [{ list: RecentIds.of([]), ids: [] as string[] }];
        for (const [which, id] of additions) {
          const { list, ids } = known[which % known.length] as (typeof known)[number];
          known.push({ list: list.with(id), ids: [...ids, id] });
        }
        for (const { list, ids } of known) {
          expect(list.values()).to.deep.equal(ids);
          for (const id of "abcdef") expect(list.has(id)).to.equal(ids.includes(id));
        }
      }),
    );
  });
});
