import { expect } from "chai";
import fc from "fast-check";
import { addRevision } from "../../../src/domain/ledger/accounts/revision-ranges.ts";
import { NumberLists } from "../../../src/ledger/accounts/number-lists.ts";
import { UnpostedEntries } from "../../../src/ledger/accounts/unposted-entries.ts";

describe("unposted entries", () => {
  it("name the ranges, the first and the last revision of their events, and the last digest", () => {
    const distance = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 1e6 }));
    fc.assert(
      fc.property(fc.nat(1e6), fc.array(distance, { maxLength: 60 }), (first, distances) => {
        const lists = new NumberLists();
        const [entries, others] = [new UnpostedEntries(lists), new UnpostedEntries(lists)];
        const expected: number[] = [];
        let revision = first;
        for (const further of [0, ...distances]) {
          revision += further;
          entries.addEvent(revision, `digest ${revision}`);
          others.addEvent(2 * revision, "");
          addRevision(expected, revision);
        }
        others.release();
        const { ranges, toInclusive: through, digest } = entries;
        expect({ first: entries.fromInclusive, ranges, through, digest }).to.deep.equal({
          first,
          ranges: expected,
          through: revision,
          digest: `digest ${revision}`,
        });
      }),
    );
  });
});
