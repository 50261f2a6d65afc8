import { expect } from "chai";
import fc from "fast-check";
import { isWellFormed } from "../../../../src/domain/event-shapes.ts";
import { expandServings, ServingColumns } from "../../../../src/domain/ledger/journal/serving-columns.ts";
import { anyServing, serving } from "../../../support/servings.ts";

const at = "2026-11-05T10:00:00.000Z";

const columnsOf = (servings: Iterable<ReturnType<typeof serving>>): ServingColumns => {
  const columns = new ServingColumns();
  for (const one of servings) columns.add(one, Number.POSITIVE_INFINITY);
  return columns;
};

const isWellFormedServing = (data: object): boolean =>
  isWellFormed({ stream: "journal-j", type: "SynthesesServed", data, metadata: {} });

describe("the columns of a journal's servings", () => {
  it("expand to the same servings, also after a round trip through JSON", () => {
    fc.assert(
      fc.property(fc.array(anyServing()), (servings) => {
        const data = columnsOf(servings).build({ at, previous: null });
        expect(expandServings(data)).to.deep.equal(servings);
        expect(expandServings(JSON.parse(JSON.stringify(data)))).to.deep.equal(servings);
        expect(isWellFormedServing(JSON.parse(JSON.stringify(data)))).to.equal(true);
      }),
    );
  });

  it("hold each key and all audio once", () => {
    const sounds = [serving(), serving({ apiKey: "vlk_2" }), serving({ voice: "b" }), serving()];
    const { keys, sounds: distinct, key, sound } = columnsOf(sounds).build({ at, previous: null });
    expect(keys).to.deep.equal(["vlk_1", "vlk_2"]);
    expect(key).to.deep.equal([0, 1, 0, 0]);
    expect(distinct.map(({ voice }) => voice)).to.deep.equal(["UK English Female", "b"]);
    expect(sound).to.deep.equal([0, 0, 1, 0]);
  });

  it("never exceed the given size by more than the envelope, whatever the servings contain", () => {
    const envelope = 150;
    fc.assert(
      fc.property(
        fc.array(anyServing(), { minLength: 2, maxLength: 60 }),
        fc.integer({ min: 2_000, max: 8_000 }),
        (servings, max) => {
          const columns = new ServingColumns();
          const added = servings.filter((one) => columns.add(one, max)).length;
          const json = JSON.stringify(columns.build({ at, previous: null }));
          fc.pre(added > 1);
          expect(Buffer.byteLength(json))
            .to.be.at.most(columns.bytes + envelope)
            .and.at.most(max + envelope);
        },
      ),
    );
  });

  it("take the first serving whatever its size", () => {
    const columns = new ServingColumns();
    expect(columns.add(serving(), 10)).to.equal(true);
    expect(columns.add(serving(), 10)).to.equal(false);
    expect(columns).to.have.length(1);
  });

  it("are malformed with an index outside the dictionaries or columns of different lengths", () => {
    const good = columnsOf([serving(), serving({ stream: "sse" })]).build({ at, previous: null });
    expect(isWellFormedServing(good)).to.equal(true);
    for (const change of [
      { key: [0, 1] },
      { key: [0] },
      { sound: [0, 1] },
      { characters: [1, 2, 3] },
      { cached: ["miss"] },
      { details: { 2: {} } },
      { details: { stream: {} } },
      { details: { 1: { stream: 1 } } },
      { details: [] },
    ]) {
      const data = { ...good, ...change };
      expect(isWellFormedServing(data), JSON.stringify(change)).to.equal(false);
    }
  });
});
