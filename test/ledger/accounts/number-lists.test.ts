import { expect } from "chai";
import fc from "fast-check";
import { type NumberList, NumberLists } from "../../../src/ledger/accounts/number-lists.ts";

const emptyList = (): NumberList => ({ firstBlock: 0, lastBlock: 0, usedBytes: 0 });

describe("lists of numbers in shared memory", () => {
  it("contain what was appended since they were cleared, whatever others contain", () => {
    const action = fc.record({
      list: fc.nat(3),
      clears: fc.nat(20).map((n) => n === 0),
      number: fc.oneof(fc.nat(300), fc.maxSafeNat()),
      times: fc.integer({ min: 1, max: 40 }),
    });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const lists = new NumberLists();
        const all = Array.from({ length: 4 }, () => ({ list: emptyList(), expected: [] as number[] }));
        for (const { list: index, clears, number, times } of actions) {
          const one = all[index] ?? expect.fail();
          if (clears) {
            lists.clear(one.list);
            one.expected = [];
          } else {
            for (let i = 0; i < times; i++) lists.append(one.list, number);
            one.expected.push(...new Array<number>(times).fill(number));
          }
          for (const { list, expected } of all) expect([...lists.read(list)]).to.deep.equal(expected);
        }
      }),
    );
  });

  it("use the memory of cleared lists again", () => {
    const lists = new NumberLists();
    const blocks = new Set<number>();
    for (let round = 0; round < 100; round++) {
      const all = Array.from({ length: 10 }, emptyList);
      for (const list of all) {
        for (let i = 0; i < 100; i++) lists.append(list, 1_000);
        blocks.add(list.firstBlock).add(list.lastBlock);
      }
      for (const list of all) lists.clear(list);
    }
    expect(Math.max(...blocks)).to.equal(10 * Math.ceil(200 / 28));
  });

  it("may take many megabytes", () => {
    const lists = new NumberLists();
    const all = Array.from({ length: 40_000 }, emptyList);
    for (let i = 0; i < 20; i++) for (const [index, list] of all.entries()) lists.append(list, 1_000 * index);
    for (const index of [0, 1, 32_768, 39_999])
      expect([...lists.read(all[index] ?? emptyList())]).to.deep.equal(new Array(20).fill(1_000 * index));
  });
});
