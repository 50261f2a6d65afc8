import { expect } from "chai";
import fc from "fast-check";
import { type MappedText, rewrite, unchanged } from "../../../src/domain/text/mapped-text.ts";

/** What of the source each part of a text stands for. */
const sourceOf = (source: string, { text, from, to }: MappedText, part: string): string => {
  const at = text.indexOf(part);
  const end = at + part.length - 1;
  return Array.from(source).slice(from[at], to[end]).join("");
};

describe("A mapped text", () => {
  it("knows what of the source each part stands for", () => {
    const source = "Pay 😀 £5 to Dr. No";
    const paid = rewrite(unchanged(source), /£(\d+)/gu, ([, amount]) => `${amount} pounds`);
    const mapped = rewrite(paid, /Dr\./gu, () => "Doctor");
    expect(mapped.text).to.equal("Pay 😀 5 pounds to Doctor No");
    expect(sourceOf(source, mapped, "5 pounds")).to.equal("£5");
    expect(sourceOf(source, mapped, "Doctor")).to.equal("Dr.");
    expect(sourceOf(source, mapped, "No")).to.equal("No");
    expect(sourceOf(source, mapped, "😀")).to.equal("😀");
    expect(mapped.length).to.equal(Array.from(source).length);
  });

  it("keeps the places of what a rewritten part has in common with the part before", () => {
    const source = "5 kg";
    const mapped = rewrite(unchanged(source), /(\d+) kg/gu, ([, amount]) => `${amount} kilograms`);
    expect(sourceOf(source, mapped, "5")).to.equal("5");
    expect(sourceOf(source, mapped, "kilograms")).to.equal("kg");
  });

  it("does not divide a word that is rewritten as several", () => {
    const source = "Write to a@b now";
    const mapped = rewrite(unchanged(source), /a@b now/gu, () => "a at b now");
    for (const part of ["a at", "at b", "b"]) expect(sourceOf(source, mapped, part), part).to.equal("a@b");
    expect(sourceOf(source, mapped, "now")).to.equal("now");
  });

  it("may begin with what is added", () => {
    expect(rewrite(unchanged("3 km"), /\d/gu, ([digit]) => `ke-${digit}`).text).to.equal("ke-3 km");
  });

  it("stays in order and within the source, whatever is rewritten how often", () => {
    const words = fc.array(fc.string({ unit: "binary", maxLength: 4 }), { maxLength: 4 });
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), words, (source, written) => {
        let mapped = unchanged(source);
        for (const word of written) mapped = rewrite(mapped, /[\p{L}\p{S}]+|\d/gu, () => word);
        const length = Array.from(source).length;
        expect(mapped.from).to.have.lengthOf(mapped.text.length);
        expect(mapped.to).to.have.lengthOf(mapped.text.length);
        let last = 0;
        for (const [unit, from] of mapped.from.entries()) {
          const to = mapped.to[unit] ?? 0;
          expect(from).to.be.within(last, to);
          expect(to).to.be.at.most(length);
          last = from;
        }
      }),
    );
  });
});
